"""Arrays as torch tensors that share their memory, and tensors as arrays of the caller's library."""

from __future__ import annotations

import sys
from typing import Any

import torch
from torch.utils.dlpack import from_dlpack

from fictl.errors import InvalidValue, NotInstalled, WrongType

# Types that NumPy has from ml_dtypes and cannot export, by an integer of their size.
_BY_BITS = {
    torch.bfloat16: torch.int16,
    torch.float8_e4m3fn: torch.int8,
    torch.float8_e5m2: torch.int8,
}
_NAMED = {str(dtype).removeprefix("torch."): dtype for dtype in _BY_BITS}


def is_array(value: Any) -> bool:
    """Return true for what speaks DLPack and is not a tensor of torch's."""
    return hasattr(type(value), "__dlpack__") and not isinstance(value, torch.Tensor)


def is_traced(value: Any) -> bool:
    """Return true for a value of jax.jit, which has no memory yet."""
    core = sys.modules.get("jax.core")
    return core is not None and isinstance(value, core.Tracer)


def library_of(value: Any) -> str:
    """Return the package of an array's type: `numpy`, `cupy`, `jax` …"""
    name = type(value).__module__.partition(".")[0]
    return "jax" if name == "jaxlib" else name


def described(value: Any) -> str:
    return f"{library_of(value)}.{type(value).__name__}"


def as_tensor(value: Any, op: str, name: str, is_written: bool) -> torch.Tensor:
    """Return a tensor in the array's memory. `is_written`: the op writes this argument."""
    if is_written:
        _refuse_read_only(value, op, name)
    # Why first: torch ends the process at a negative stride.
    if any(stride < 0 for stride in getattr(value, "strides", None) or ()):
        raise InvalidValue(
            f"{op}: argument '{name}', a {described(value)}, has a negative stride",
            f"pass a copy: {name}.copy()",
        )
    try:
        dtype = _NAMED.get(str(getattr(value, "dtype", "")))
        if library_of(value) == "numpy" and dtype is not None:
            return from_dlpack(value.view(f"i{dtype.itemsize}")).view(dtype)
        return from_dlpack(value)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise WrongType(
            f"{op}: argument '{name}', a {described(value)} of {getattr(value, 'dtype', '?')}, "
            f"cannot be read as a tensor: {error}",
            "convert it to a type that torch has, or pass a torch.Tensor",
        ) from error


def _refuse_read_only(value: Any, op: str, name: str) -> None:
    if library_of(value) == "jax":
        raise InvalidValue(
            f"{op} writes its argument '{name}', and arrays of JAX cannot be written",
            f"leave {name} out if the op allocates it then; else pass a torch.Tensor",
        )
    flags = getattr(value, "flags", None)
    if not getattr(flags, "writeable", True):
        raise InvalidValue(
            f"{op} writes its argument '{name}', and this array is read-only", "pass a copy of it"
        )


def as_array(tensor: torch.Tensor, like: Any) -> Any:
    """Return an array of the library of `like` in the tensor's memory."""
    if library_of(like) == "numpy":
        return _as_numpy(tensor)
    space = getattr(like, "__array_namespace__", None)
    library = space() if space else sys.modules.get(library_of(like))
    make = getattr(library, "from_dlpack", None)
    return tensor if make is None else make(tensor)


def _as_numpy(tensor: torch.Tensor) -> Any:
    if tensor.is_cuda:
        raise InvalidValue(
            "the result is on a GPU, where NumPy has no arrays", "pass arrays of CuPy or tensors"
        )
    bits = _BY_BITS.get(tensor.dtype)
    if bits is None:
        return tensor.numpy()
    name = str(tensor.dtype).removeprefix("torch.")
    try:
        import ml_dtypes
    except ImportError:
        raise NotInstalled(
            f"the result is {name}, which NumPy has from ml_dtypes", "pip install ml_dtypes"
        ) from None
    return tensor.view(bits).numpy().view(getattr(ml_dtypes, name))
