"""Tensors between processes that trust each other with nothing: their bytes, in a safetensors file."""

from __future__ import annotations

import json
import math
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from fictl.errors import FictlError
from fictl.judge.fault import is_of_machine

if TYPE_CHECKING:
    import torch

_META = "tensors"
# What no definition has, and a wrong solution may well return.
_MORE = ("float64", "uint8", "uint16", "uint32", "uint64", "complex64", "complex128")


class Damaged(FictlError):
    """A parcel that does not hold what it says."""


def write(path: Path, tensors: Mapping[str, torch.Tensor]) -> None:
    """Whatever their dtype and strides are."""
    import torch
    from safetensors.torch import save_file

    meta, data = {}, {}
    for name, tensor in tensors.items():
        flat = tensor.detach().contiguous().reshape(-1)
        data[name] = flat.view(torch.uint8).cpu().clone()
        meta[name] = [str(tensor.dtype).removeprefix("torch."), [*tensor.shape]]
    save_file(data, path, {_META: json.dumps(meta)})


def read(path: Path, device: str, most: int = 1 << 40) -> dict[str, torch.Tensor]:
    """`most` is in bytes. Whoever wrote it may change it meanwhile: it is read once, not mapped."""
    from safetensors import SafetensorError
    from safetensors.torch import load

    try:
        data = _bytes(path, most)
        header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
        tensors, meta = load(data), json.loads(header["__metadata__"][_META])
        return {name: _tensor(tensors[name], *said).to(device) for name, said in meta.items()}
    except (
        SafetensorError, OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError,
    ) as error:  # fmt: skip
        if is_of_machine(error):
            raise
        raise Damaged(f"{path.name} does not hold what it says: {error!r}") from None


def _bytes(path: Path, most: int) -> bytes:
    """Of a file, and of nothing that stands for another one or never ends."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise ValueError("it is no file")
        if found.st_size > most:
            raise ValueError(f"{found.st_size} bytes, and {most} would be many")
        return file.read(found.st_size)


def _tensor(data: torch.Tensor, dtype: str, shape: list[int]) -> torch.Tensor:
    import torch

    from fictl.trace.documents.tensor_spec import ELEMENT_TYPES, torch_dtype

    known = {str(torch_dtype(name)).removeprefix("torch.") for name in ELEMENT_TYPES} | {*_MORE}
    if dtype not in known or data.dtype != torch.uint8:
        raise ValueError(f"the dtype {dtype!r:.40}")
    element: torch.dtype = getattr(torch, dtype)
    if any(not isinstance(size, int) or size < 0 for size in shape):
        raise ValueError(f"the shape {shape!r:.80}")
    if math.prod(shape) * element.itemsize != data.numel():
        raise ValueError(f"{data.numel()} bytes for {dtype} {shape}")
    return data.view(element).reshape(shape)
