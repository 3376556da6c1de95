"""What a solution returns, and its way into tensors that the caller has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def unpacked(result: Any) -> Any:
    """An empty tuple is None, a tuple of one is that one."""
    if isinstance(result, tuple) and len(result) < 2:
        return result[0] if result else None
    return result


def as_tuple(result: Any) -> tuple[Any, ...]:
    if result is None:
        return ()
    return (*result,) if isinstance(result, (tuple, list)) else (result,)


def copy_results(names: Sequence[str], results: Sequence[Any], outputs: Sequence[Any]) -> None:
    """Each into its output; what is of another shape or dtype is no result of that name."""
    import torch

    if len(results) != len(names):
        raise ValueError(f"{len(results)} values were returned for {', '.join(names) or 'nothing'}")
    tensors = [
        value if isinstance(value, torch.Tensor) else torch.as_tensor(value, dtype=output.dtype)
        for value, output in zip(results, outputs, strict=True)
    ]
    for name, value, output in zip(names, tensors, outputs, strict=True):
        if (value.shape, value.dtype) != (output.shape, output.dtype):
            raise ValueError(
                f"{name} was returned as {_described(value)}, its output is {_described(output)}"
            )
    # Why: a result may be a view of an output that an earlier copy has written by then.
    storages = {output.untyped_storage().data_ptr() for output in outputs}
    kept = [
        value.clone()
        if value is not output and value.untyped_storage().data_ptr() in storages
        else value
        for value, output in zip(tensors, outputs, strict=True)
    ]
    for value, output in zip(kept, outputs, strict=True):
        if value is not output:
            output.copy_(value)


def _described(tensor: Any) -> str:
    return f"{str(tensor.dtype).removeprefix('torch.')} {[*tensor.shape]}"
