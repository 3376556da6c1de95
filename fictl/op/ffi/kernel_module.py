"""The functions of a module, compiled at the first call; later calls are plain FFI calls."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Hashable, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, cast

from fictl import settings
from fictl.errors import FictlError, NotOnDevice, UsageError
from fictl.jit import JitSpec
from fictl.op.ffi.caller import public_function
from fictl.op.ffi.dynamo import constant_to_dynamo
from fictl.op.ffi.schema import Schema, read_schema
from fictl.op.ffi.wrong_device import DLPACK, WrongDevice, device_type
from fictl.op.module import default_module

try:
    from torch.compiler import is_dynamo_compiling

    from fictl.op.ffi.route import Route
    from fictl.op.ffi.torch_op import define, op_name, overload
except ImportError:  # Without torch, fictl.op.ffi.torch_op is not used further.
    from fictl.op.ffi.direct import Direct as Route  # type: ignore[assignment]
    from fictl.op.ffi.direct import is_dynamo_compiling

_building = threading.RLock()
_made = count()


class KernelModule:
    """`kernel = KernelModule(__file__)`; then `kernel.scale(out, input, factor)`.

    A file stands for the one module of its op folder. For special options or several modules, pass
    `module` of a jit.py: `KernelModule(module)`.

    A function becomes an instance attribute on first access: a call costs a dictionary lookup and
    a guard more than the bare FFI call. A module with parameters is `kernel[dtype, dim].fn(...)`.

    While torch.compile traces, Dynamo follows `__getattr__` and `_traced`; steps that it cannot
    follow (reading the binding, defining the op) are in methods whose results are constants to it.
    They take `_identity`, because Dynamo guards values it reads: another module is traced anew.
    """

    def __init__(self, module: Callable[..., JitSpec] | str, *parameters: Hashable) -> None:
        self._module = default_module(module) if isinstance(module, str) else module
        self._parameters = parameters
        self._specialised: dict[Hashable, KernelModule] = {}
        self._routes: dict[str, Route] = {}
        self._devices: dict[str, str] = {}
        self._identity = str(next(_made))

    def __getitem__(self, parameters: Hashable) -> KernelModule:
        if is_dynamo_compiling():
            return cast("KernelModule", _Traced(self, parameters))
        specialised = self._specialised.get(parameters)
        if specialised is None:
            values = parameters if isinstance(parameters, tuple) else (parameters,)
            module = KernelModule(self._module, *values)
            specialised = self._specialised.setdefault(parameters, module)
        return specialised

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_"):
            raise AttributeError(name)
        if is_dynamo_compiling():
            return partial(self._traced, name, None)
        return self._route(name).call

    def bare(self, name: str) -> Callable[..., Any]:
        """Return the FFI function without the guard, as the baseline for the overhead of calls."""
        return self._resolve(name)

    def _route(self, name: str) -> Route:
        with _building:
            route = self._routes.get(name)
            if route is None:
                traced = partial(self._traced, name, None)
                schema = self._schema(name)
                check = partial(_check_devices, name, schema.on_host if schema else ())
                first = _FirstCall(self._resolve, name, check)
                follow = partial(self._follow, name, first)
                route = Route(name, schema, first, traced, check, follow)
                self._routes[name] = route
                setattr(self, name, route.call)
            return route

    def _resolve(self, name: str) -> Callable[..., Any]:
        """Load the module's function, and put it into the route."""
        with _building:
            route = self._route(name)
            if not isinstance(route.ffi, _FirstCall):
                return route.ffi
            spec = self._module(*self._parameters)
            _require_device(spec, name)
            library = spec.build_and_load()
            try:
                function: Callable[..., Any] = getattr(library, name)
            except AttributeError:
                raise FictlError(
                    f"{spec.name} exports no function {name!r}",
                    "compare it with the TVM_FFI_DLL_EXPORT_TYPED_FUNC lines of binding.cpp",
                ) from None
            if spec.runs_on == "emu":
                from fictl.op.ffi.emulated import Emulated

                function = Emulated(name, function)
            self._devices[name] = spec.runs_on
            route.bind(function)
            return function

    def _follow(self, name: str, first: _FirstCall) -> bool:
        """Unbind a function of another device than the process uses now; True if it was one."""
        with _building:
            if self._devices.get(name) in (None, settings.DEVICE.get()):
                return False
            del self._devices[name]
            self._routes[name].bind(first)
            return True

    def _schema(self, name: str) -> Schema | None:
        """Read the schema; None if the binding is unreadable, which only affects torch.compile."""
        try:
            return self._read_schema(name)
        except UsageError:
            return None

    def _read_schema(self, name: str) -> Schema:
        spec = self._module(*self._parameters)
        return read_schema(spec.sources, name, partial(_written, spec.base / "op.py", name))

    def _traced(self, name: str, parameters: Hashable, *arguments: Any) -> Any:
        """Call through torch.ops, so that torch sees it; without tensors, call directly."""
        key = self._define(self._identity, name, parameters)
        if key:
            return overload(key)(*arguments)
        return self._computed(self._identity, name, parameters, *arguments)

    @constant_to_dynamo
    def _define(self, _of: str, name: str, parameters: Hashable) -> tuple[str, str] | None:
        kernel = self if parameters is None else self[parameters]
        return kernel._torch_op(name)  # noqa: SLF001

    @constant_to_dynamo
    def _computed(self, _of: str, name: str, parameters: Hashable, *arguments: Any) -> Any:
        kernel = self if parameters is None else self[parameters]
        return kernel._route(name).ffi(*arguments)  # noqa: SLF001

    def _torch_op(self, name: str) -> tuple[str, str] | None:
        schema = self._read_schema(name)
        if not schema.tensors:
            return None
        spec, route = self._module(*self._parameters), self._route(name)
        owner = f"{spec.name}{list(self._parameters) or ''}"
        return define(spec.project, op_name(name, self._parameters), owner, schema, route.launch)


class _Traced:
    """`kernel[parameters]` while Dynamo traces, which does not create a KernelModule."""

    def __init__(self, kernel: KernelModule, parameters: Hashable) -> None:
        self._kernel = kernel
        self._parameters = parameters

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return partial(self._kernel._traced, name, self._parameters)  # noqa: SLF001


class _FirstCall:
    """Placeholder for a function until its module is built."""

    def __init__(
        self, resolve: Callable[[str], Callable[..., Any]], name: str, check: Callable[..., None]
    ) -> None:
        self._resolve = resolve
        self._name = name
        self._check = check

    def __call__(self, *arguments: Any) -> Any:
        # Why before the build: a tensor on the wrong device should not cost a compile, nor cause
        # an error about compilers. After the build the binding checks it.
        self._check(*arguments)
        return self._resolve(self._name)(*arguments)


def _require_device(spec: JitSpec, export: str) -> None:
    """Refuse a device that no caller declares; a module is built for the devices of all callers."""
    op = spec.base / "op.py"
    if spec.runs_on != "emu" or not os.path.isfile(op):
        return
    from fictl.project.written import callers_of

    callers = callers_of(op, export)
    if not any("emu" in caller.devices for caller in callers):
        names = [caller.name for caller in callers]
        devices = dict.fromkeys(" ".join(caller.devices) for caller in callers)
        raise NotOnDevice(
            f"{', '.join(names)} does not run on the emulated device: {op.name} declares "
            f"devices={', '.join(map(repr, devices))}",
            "run it on a GPU, or add emu there",
        )


def _written(op: Path, export: str, parameters: Sequence[str]) -> frozenset[str]:
    """Return the parameters that the export's callers write; `out` outside of op folders."""
    if not os.path.isfile(op):
        return frozenset({"out"})
    from fictl.project.written import written_by

    return written_by(op, export, parameters)


def _check_devices(op: str, on_host: Collection[int], *arguments: Any) -> None:
    """Check devices of the public function's variables, in the order of its parameters.

    A kernel that serves several ops gets the op as its first argument.
    on_host: the positions of arguments that are on the host, wherever the kernel runs.
    """
    on_device = [x for position, x in enumerate(arguments) if position not in on_host]
    if arguments and isinstance(arguments[0], str):
        op = arguments[0]
    caller = public_function()
    expected = DLPACK[settings.DEVICE.get()]
    for name, value in (caller.f_locals if caller else {}).items():
        passed = any(
            value is argument or value is getattr(argument, "_base", argument)
            for argument in on_device
        )
        if passed and device_type(value) not in (None, expected):
            raise WrongDevice(op, name, value.device) from None
