"""Loads one tensor from a safetensors file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fictl.errors import UsageError, unreadable
from fictl.user_file import open_regular

if TYPE_CHECKING:
    import torch

_LFS = b"version https://git-lfs"


def load(path: Path, key: str, device: str) -> torch.Tensor:
    """Load only this tensor, however large the file is."""
    from safetensors import SafetensorError, safe_open

    _require_file(path)
    try:
        with safe_open(path, framework="pt", device=device) as file:
            if key not in file.keys():  # noqa: SIM118 it is no mapping
                known = ", ".join([*file.keys()][:8])
                raise UsageError(f"{path} has no tensor {key!r}", f"it has {known or 'none'}")
            tensor: torch.Tensor = file.get_tensor(key)
    except (SafetensorError, OSError) as error:
        raise UsageError(f"{path} is not a safetensors file: {error}") from None
    return tensor


def _require_file(path: Path) -> None:
    try:
        with open_regular(path) as file:
            start = file.read(len(_LFS))
    except OSError as error:
        raise unreadable(path, error, "fictl dataset validate names such files") from None
    if start == _LFS:
        raise UsageError(f"{path} is a git-lfs pointer, not the file", "run git lfs pull there")
