"""Results of a solution, and copying them to the caller's tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def unpacked(result: Any) -> Any:
    """Convert a tuple of none to None, and a tuple of one to its item."""
    if isinstance(result, tuple) and len(result) < 2:
        return result[0] if result else None
    return result


def as_tuple(result: Any) -> tuple[Any, ...]:
    if result is None:
        return ()
    return (*result,) if isinstance(result, (tuple, list)) else (result,)


def copy_results(names: Sequence[str], results: Sequence[Any], outputs: Sequence[Any]) -> None:
    """Copy each result to its output; refuse other shapes and dtypes."""
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
