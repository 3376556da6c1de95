"""The functions of a module, compiled when the first one is called and plain FFI calls after that."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Hashable
from types import FrameType
from typing import Any

from fictl import settings
from fictl.errors import FictlError, InvalidValue
from fictl.jit import JitSpec

# What tensors of a device say of themselves in DLPack, and in words.
_DLPACK = {"cuda": 2, "emu": 1}
_WAY_OUT = {
    "cuda": "pass {}.cuda(), or set FICTL_DEVICE=emu to run it on the emulated device",
    "emu": "pass {}.cpu(), or unset FICTL_DEVICE to run it on a GPU",
}
_TAKES = {"cuda": "CUDA tensors", "emu": "CPU tensors, for the emulated device"}
_building = threading.RLock()


class KernelModule:
    """`kernel = KernelModule(module)`; then `kernel.scale(out, input, factor)`.

    A resolved function is an instance attribute, so that a call costs one dictionary lookup over
    the bare FFI call. A module with parameters is `kernel[dtype, dim].fn(...)`.
    """

    def __init__(self, module: Callable[..., JitSpec], *parameters: Hashable) -> None:
        self._module = module
        self._parameters = parameters
        self._specialised: dict[Hashable, KernelModule] = {}

    def __getitem__(self, parameters: Hashable) -> KernelModule:
        found = self._specialised.get(parameters)
        if found is None:
            values = parameters if isinstance(parameters, tuple) else (parameters,)
            found = self._specialised[parameters] = KernelModule(self._module, *values)
        return found

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_"):
            raise AttributeError(name)
        return _FirstCall(self._resolve, name)

    def _resolve(self, name: str) -> Callable[..., Any]:
        with _building:
            resolved: Callable[..., Any] | None = vars(self).get(name)
            if resolved is not None:
                return resolved
            spec = self._module(*self._parameters)
            library = spec.build_and_load()
            try:
                function: Callable[..., Any] = getattr(library, name)
            except AttributeError:
                raise FictlError(
                    f"{spec.name} exports no function {name!r}",
                    "compare it with the TVM_FFI_DLL_EXPORT_TYPED_FUNC lines of binding.cpp",
                ) from None
            if spec.runs_on == "emu":
                from fictl.op.emulated import Emulated

                function = Emulated(name, function)
            setattr(self, name, function)
            return function


class _FirstCall:
    """Stands in for a function until its module is built."""

    def __init__(self, resolve: Callable[[str], Callable[..., Any]], name: str) -> None:
        self._resolve = resolve
        self._name = name

    def __call__(self, *arguments: Any) -> Any:
        # Why before the build: a tensor on the wrong device should not cost a compile, nor end
        # in a message about compilers. Once built, the binding checks it.
        _check_devices(self._name, arguments, _variables(inspect.currentframe()))
        return self._resolve(self._name)(*arguments)


def _variables(frame: FrameType | None) -> dict[str, Any]:
    """Those of the function that called the one of this frame."""
    caller = frame.f_back if frame else None
    return caller.f_locals if caller else {}


def _check_devices(op: str, arguments: tuple[Any, ...], names: dict[str, Any]) -> None:
    """`names` are the public function's variables, in the order of its parameters."""
    device = settings.DEVICE.get()
    for name, value in names.items():
        passed = any(value is argument for argument in arguments)
        if passed and _device_type(value) not in (None, _DLPACK[device]):
            raise InvalidValue(
                f"{op}: argument '{name}' is on {value.device}, but this build takes "
                f"{_TAKES[device]}",
                _WAY_OUT[device].format(name),
            )


def _device_type(value: Any) -> int | None:
    """DLPack's device type of a tensor, -1 if it has none; None for what is no tensor."""
    ask = getattr(value, "__dlpack_device__", None)
    if ask is None:
        return None
    try:
        return int(ask()[0])
    except (ValueError, RuntimeError, BufferError):
        return -1
