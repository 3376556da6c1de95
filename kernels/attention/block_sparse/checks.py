"""Arguments of block-sparse attention, checked in words."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from .._arguments.options import Options

_INTEGERS = (torch.int32, torch.int64)
_INT32 = torch.iinfo(torch.int32).max


def integers(
    op: str, name: str, x: torch.Tensor, shape: tuple[int, ...], device: torch.device
) -> torch.Tensor:
    """Return x as contiguous int32 on the device."""
    if not isinstance(x, torch.Tensor) or x.dtype not in _INTEGERS:
        what = x.dtype if isinstance(x, torch.Tensor) else type(x).__name__
        raise TypeError(f"{op}: argument '{name}' is of {what}; pass a tensor of int32")
    if tuple(x.shape) != shape:
        raise ValueError(f"{op}: argument '{name}' has shape {tuple(x.shape)}; here it is {shape}")
    return x.to(device, torch.int32, non_blocking=True).contiguous()


def booleans(
    op: str, name: str, x: torch.Tensor, shape: tuple[int, ...], device: torch.device
) -> torch.Tensor:
    """Return x as contiguous bools, which are on the device already."""
    if not isinstance(x, torch.Tensor) or x.dtype not in (torch.bool, torch.uint8, *_INTEGERS):
        what = x.dtype if isinstance(x, torch.Tensor) else type(x).__name__
        raise TypeError(f"{op}: argument '{name}' is of {what}; pass a tensor of bool")
    if tuple(x.shape) != shape:
        raise ValueError(f"{op}: argument '{name}' has shape {tuple(x.shape)}; here it is {shape}")
    if x.device != device:
        raise ValueError(
            f"{op}: argument '{name}' is on {x.device}, the workspace on {device}; pass "
            f"{name}.to({str(device)!r})"
        )
    return x.to(torch.bool).contiguous()


def fits_int32(op: str, what: str, count: int) -> int:
    """Refuse more than an int32 counts."""
    if count > _INT32:
        raise ValueError(f"{op}: {what} are {count}; there are at most {_INT32}")
    return count


def tensors(
    op: str, chosen: Options, shapes: Mapping[str, tuple[int, ...]], **given: torch.Tensor
) -> None:
    """Raise an error where q, k or v is not what plan() was told."""
    for name, x in given.items():
        dtype = chosen.q if name == "q" else chosen.kv
        if tuple(x.shape) != shapes[name]:
            raise ValueError(
                f"{op}: argument '{name}' has shape {tuple(x.shape)}, plan() was told "
                f"{shapes[name]}"
            )
        if x.dtype is not dtype:
            raise ValueError(
                f"{op}: argument '{name}' has dtype {x.dtype}, plan() was told {dtype}"
            )


def output(op: str, out: torch.Tensor | None, q: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Return `out`, or a new tensor like q."""
    if out is None:
        return torch.empty(q.shape, dtype=dtype, device=q.device)
    if out.shape != q.shape or out.dtype is not dtype:
        raise ValueError(
            f"{op}: argument 'out' has shape {tuple(out.shape)} and dtype {out.dtype}; it is "
            f"{tuple(q.shape)} of {dtype}"
        )
    return out
