"""Tensors in a file, restored with their strides, which safetensors does not store.

A stride of 0 is kept; repeated elements are written once.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, TensorSpec, serialize, serialize_file
from safetensors.torch import load_file

from fictl.op.watch.dump.record import Layout, Refused, TensorFile
from fictl.paths import real

# Limit of a restored tensor's span in memory: more than any GPU has.
_LARGEST = 1 << 40
_FILES = ("inputs.safetensors", "inputs.pt", "outputs.safetensors", "outputs.pt")


def layout_of(tensor: torch.Tensor) -> Layout:
    return Layout(
        shape=tuple(tensor.shape),
        stride=tuple(tensor.stride()),
        dtype=str(tensor.dtype).removeprefix("torch."),
        device=str(tensor.device),
    )


def stored_bytes(tensor: torch.Tensor) -> int:
    return _distinct(tensor).numel() * tensor.element_size()


def write_tensors(
    folder: Path, stem: str, tensors: Mapping[str, torch.Tensor], as_safetensors: bool
) -> TensorFile:
    """Write the tensors of a call; they are on the disk when this returns."""
    layouts = {key: layout_of(tensor) for key, tensor in tensors.items()}
    packed = {key: _packed(tensor) for key, tensor in tensors.items()}
    path = folder / f"{stem}.{'safetensors' if as_safetensors else 'pt'}"
    if as_safetensors:
        save_safetensors(path, packed)
    else:
        # With their strides, for users who load the file by hand.
        _save_pt(path, {key: restored(packed[key], layouts[key], "cpu") for key in packed})
    for place in (path, folder):
        _sync(place)
    return TensorFile(file=path.name, size=path.stat().st_size, tensors=layouts)


def read_tensors(folder: Path, described: TensorFile) -> dict[str, torch.Tensor]:
    """Read the tensors to the CPU, as stored. Never runs code from the file."""
    path = file_of(folder, described)
    try:
        tensors = _load(path)
    except Exception as error:  # A damaged file can make a parser raise anything.
        first_line = str(error).partition("\n")[0]
        raise Refused(
            f"{path} cannot be read: {first_line}", "it is damaged, or a pickle"
        ) from None
    if not isinstance(tensors, dict) or set(tensors) != set(described.tensors):
        raise Refused(f"{path} has other tensors than its metadata names")
    for key, layout in described.tensors.items():
        tensors[key] = _checked(path, key, tensors[key], layout)
    return tensors


def file_of(folder: Path, described: TensorFile) -> Path:
    """Return the file's path; refuse one with another name, outside of the dump, or incomplete."""
    if described.file not in _FILES:
        raise Refused(
            f"{folder} names the file {described.file!r:.200}; a dump has only {', '.join(_FILES)}"
        )
    path = folder / described.file
    if not real(path).is_relative_to(real(folder)):
        raise Refused(f"{path} is a link that leaves its folder")
    if not os.path.isfile(path):
        raise Refused(f"{folder} has no {described.file}")
    size = path.stat().st_size
    if size != described.size:
        raise Refused(f"{path} has {size} bytes, its metadata says {described.size}")
    return path


def restored(stored: torch.Tensor, layout: Layout, device: str) -> torch.Tensor:
    strided: torch.Tensor = torch.empty_strided(
        layout.shape, layout.stride, dtype=stored.dtype, device=device
    )
    _distinct(strided).copy_(stored)
    return strided


def save_safetensors(path: Path, tensors: Mapping[str, torch.Tensor]) -> None:
    """Write contiguous tensors of the CPU without safetensors.torch, which needs NumPy."""
    specs = {key: _spec(tensor) for key, tensor in tensors.items()}
    try:
        serialize_file(specs, path)
    except SafetensorError as error:  # Its word for a full disk.
        raise OSError(str(error)) from error


def safetensors_bytes(tensors: Mapping[str, torch.Tensor]) -> bytes:
    """Return what the file of contiguous tensors of the CPU would hold."""
    return serialize({key: _spec(tensor) for key, tensor in tensors.items()})


def _save_pt(path: Path, tensors: dict[str, torch.Tensor]) -> None:
    try:
        torch.save(tensors, path)
    except RuntimeError as error:  # Its word for a full disk.
        raise OSError(str(error)) from error


def _spec(tensor: torch.Tensor) -> TensorSpec:
    """Describe the tensor's memory without a copy: `tensor` must outlive the result."""
    return TensorSpec(
        dtype=str(tensor.dtype).removeprefix("torch."),
        shape=tensor.shape,
        data_ptr=tensor.data_ptr(),
        data_len=tensor.nbytes,
    )


def _load(path: Path) -> Any:
    if path.suffix == ".pt":
        return torch.load(path, map_location="cpu", weights_only=True)
    return load_file(path)


def _checked(path: Path, key: str, tensor: Any, layout: Layout) -> torch.Tensor:
    if len(layout.shape) != len(layout.stride) or len(layout.shape) > 64:
        raise Refused(f"{path}: {key} has shape {layout.shape} and strides {layout.stride}")
    spans = 1 + sum((n - 1) * step for n, step in zip(layout.shape, layout.stride, strict=True))
    if spans > _LARGEST:
        raise Refused(f"{path}: {key} would span {spans} elements")
    shape = [1 if step == 0 else n for n, step in zip(layout.shape, layout.stride, strict=True)]
    if 0 in layout.shape:
        shape = list(layout.shape)
    if not isinstance(tensor, torch.Tensor):
        raise Refused(f"{path}: {key} is not a tensor but {type(tensor).__name__}")
    distinct = _distinct(tensor)
    seen = (list(distinct.shape), str(distinct.dtype).removeprefix("torch."))
    if seen != (shape, layout.dtype):
        raise Refused(f"{path}: {key} is {seen}, its metadata says {(shape, layout.dtype)}")
    return distinct


def _distinct(tensor: torch.Tensor) -> torch.Tensor:
    """Return a view without the repetitions of stride 0."""
    for dim, (size, step) in enumerate(zip(tensor.shape, tensor.stride(), strict=True)):
        if step == 0 and size > 1:
            tensor = tensor.narrow(dim, 0, 1)
    return tensor


def _packed(tensor: torch.Tensor) -> torch.Tensor:
    """Return a contiguous copy with its own storage: safetensors refuses views of one storage."""
    tensor = _distinct(tensor)
    return torch.empty(tensor.shape, dtype=tensor.dtype).copy_(tensor)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
