"""An op inside of jax.jit: a call of XLA's, by the bridge of TVM-FFI, with the shapes that torch infers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib.util import find_spec
from itertools import count
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils.dlpack import from_dlpack

from fictl import settings
from fictl.errors import InvalidValue, NotInstalled, UsageError

Run = Callable[[Mapping[str, Any]], Any]

_targets: dict[Hashable, str] = {}
_registering = threading.Lock()
_numbers = count()


def call_in_jit(
    function: Callable[..., Any],
    run: Run,
    op: str,
    given: Mapping[str, Any],
    mutates: Sequence[str],
) -> Any:
    """Put a call into the computation that JAX traces."""
    if find_spec("jax_tvm_ffi") is None:
        raise NotInstalled(
            f"{op}: a call inside of jax.jit needs the package jax-tvm-ffi",
            "pip install 'fictl[jax]', or call the op outside of jax.jit",
        )
    import jax

    arrays = {name: value for name, value in given.items() if isinstance(value, jax.Array)}
    _refuse_others(op, given, arrays, mutates)
    structure = _Results(run, given, arrays)
    target = _target(function, run, op, given, structure, mutates)
    library: Any = jax  # It has types in part.
    shape = library.ShapeDtypeStruct
    shapes = [shape(out.shape, _jax_dtype(out.dtype)) for out in structure.outputs]
    return structure.rebuilt(library.ffi.ffi_call(target, shapes)(*arrays.values()))


def _refuse_others(
    op: str, given: Mapping[str, Any], arrays: Mapping[str, Any], mutates: Sequence[str]
) -> None:
    for name, value in given.items():
        if name in arrays and name in mutates:
            raise InvalidValue(
                f"{op} writes its argument '{name}', and arrays of JAX cannot be written",
                f"leave {name} out if the op allocates it then",
            )
        if name not in arrays and not _is_constant(value):
            raise UsageError(
                f"{op}: argument '{name}' is a {type(value).__name__}, inside of jax.jit",
                "pass arrays of JAX, and numbers, texts or None that are known when it is traced",
            )


def _is_constant(value: Any) -> bool:
    return value is None or isinstance(value, bool | int | float | str | torch.dtype)


class _Results:
    """Shapes and dtypes of the tensors that a call returns, found without running a kernel."""

    def __init__(self, run: Run, given: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
        device = settings.DEVICE.get()
        place = "cpu" if device == "emu" else "cuda"
        with FakeTensorMode(), torch.no_grad():
            fakes = {
                name: torch.empty(array.shape, dtype=_torch_dtype(array), device=place)
                for name, array in arrays.items()
            }
            result = run({**given, **fakes})
        self.names = tuple(arrays)
        self.platform = "cpu" if device == "emu" else "gpu"
        self.is_one = isinstance(result, torch.Tensor)
        self.outputs = tuple(_tensors(result))

    def rebuilt(self, arrays: Sequence[Any]) -> Any:
        return arrays[0] if self.is_one else tuple(arrays)


def _tensors(result: Any) -> list[torch.Tensor]:
    parts = [result] if isinstance(result, torch.Tensor) else result
    if not isinstance(parts, list | tuple) or not all(isinstance(p, torch.Tensor) for p in parts):
        raise UsageError(
            f"a result is a {type(result).__name__}, inside of jax.jit",
            "ops that return tensors, or a tuple of them, can be called there",
        )
    return [*parts]


def _target(
    function: Callable[..., Any],
    run: Run,
    op: str,
    given: Mapping[str, Any],
    results: _Results,
    mutates: Sequence[str],
) -> str:
    """Return XLA's name of the call; calls that differ in shapes alone share it."""
    constants = tuple((n, value) for n, value in given.items() if n not in results.names)
    key = (function, results.names, results.platform, tuple((n, type(v), v) for n, v in constants))
    with _registering:
        if key not in _targets:
            import jax_tvm_ffi
            import tvm_ffi

            name = f"fictl.{op}.{next(_numbers)}"
            jax_tvm_ffi.register_ffi_target(
                name,
                tvm_ffi.convert(_body(run, given, results.names, _outs(given, results, mutates))),
                ["args", "rets"],
                platform=results.platform,
                pass_owned_tensor=True,
            )
            _targets[key] = name
        return _targets[key]


def _outs(given: Mapping[str, Any], results: _Results, mutates: Sequence[str]) -> Sequence[str]:
    """Return the arguments that take the results, where each result has one."""
    free = [name for name in mutates if name in given and given[name] is None]
    return free if len(free) == len(mutates) == len(results.outputs) else ()


def _body(
    run: Run, given: Mapping[str, Any], names: Sequence[str], outs: Sequence[str]
) -> Callable[..., None]:
    """Return the function that XLA calls with its buffers: first the arguments, then the results."""
    order, constants = tuple(given), {n: v for n, v in given.items() if n not in names}

    def body(*buffers: Any) -> None:
        tensors = [from_dlpack(buffer) for buffer in buffers]
        targets = tensors[len(names) :]
        known = {**constants, **dict(zip((*names, *outs), tensors, strict=False))}
        with torch.no_grad(), _stream(tensors[0]):
            result = run({name: known[name] for name in order})
            for target, tensor in zip(targets, _tensors(result), strict=True):
                if tensor is not target:
                    target.copy_(tensor)

    return body


def _stream(tensor: torch.Tensor) -> AbstractContextManager[Any]:
    """Enter the stream on which XLA runs this call."""
    if not tensor.is_cuda:
        return nullcontext()
    import tvm_ffi

    raw = tvm_ffi.get_raw_stream(tvm_ffi.device("cuda", tensor.device.index))
    cuda: Any = torch.cuda  # Its streams have no types.
    return cuda.stream(cuda.ExternalStream(raw, tensor.device))  # type: ignore[no-any-return]


def _torch_dtype(array: Any) -> torch.dtype:
    name = str(array.dtype)
    dtype = getattr(torch, name, None)
    if not isinstance(dtype, torch.dtype):
        raise InvalidValue(f"torch has no dtype {name}", "convert the array")
    return dtype


def _jax_dtype(dtype: torch.dtype) -> Any:
    import jax.numpy as jnp

    return jnp.dtype(str(dtype).removeprefix("torch."))
