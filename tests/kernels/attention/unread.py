"""Unread: tensors that stand for a GPU's, of which nothing may be read on the host."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

# What waits for a GPU, by torch's names in Python and below.
_WAITS = (
    torch.Tensor.item,
    torch.Tensor.tolist,
    torch.Tensor.cpu,
    torch.Tensor.numpy,
    torch.Tensor.__bool__,
    torch.Tensor.__int__,
    torch.Tensor.__float__,
    torch.Tensor.__index__,
    torch.Tensor.nonzero,
    torch.equal,
)
_WAITS_BELOW = (
    torch.ops.aten._local_scalar_dense.default,
    torch.ops.aten.equal.default,
    torch.ops.aten.nonzero.default,
)


class Waited(AssertionError):
    """A value of a GPU's tensor was asked for."""


@contextmanager
def unread(*tensors: torch.Tensor) -> Iterator[None]:
    """Refuse whatever would wait for one of these tensors, or for what is computed of them."""
    known = {tensor.untyped_storage()._cdata for tensor in tensors}
    kept: list[Any] = []

    def check(func: Any, waits: Any, args: Any) -> None:
        mine = [x for x in args if isinstance(x, torch.Tensor) and _of(x) in known]
        if mine and func in waits:
            raise Waited(f"{getattr(func, '__name__', func)} of a tensor of {tuple(mine[0].shape)}")

    def follow(args: Any, result: Any) -> Any:
        if isinstance(result, torch.Tensor) and any(
            isinstance(x, torch.Tensor) and _of(x) in known for x in args
        ):
            known.add(_of(result))
            kept.append(result)
        return result

    class Functions(TorchFunctionMode):
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            check(func, _WAITS, args)
            return func(*args, **(kwargs or {}))

    class Below(TorchDispatchMode):
        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            check(func, _WAITS_BELOW, args)
            return follow(args, func(*args, **(kwargs or {})))

    with Functions(), Below():
        yield


def _of(tensor: torch.Tensor) -> int:
    with torch._C.DisableTorchFunction():
        return tensor.untyped_storage()._cdata
