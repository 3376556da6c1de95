from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fictl.errors import UsageError
from fictl.trace.dataset.safetensors_header import TensorInfo, read_header

GOOD: dict[str, Any] = {"dtype": "I32", "shape": [2, 3], "data_offsets": [0, 24]}


def write(tmp_path: Path, tensor: Any, data: int = 24) -> Path:
    path = tmp_path / "t.safetensors"
    header = json.dumps({"__metadata__": {"a": "b"}, "x": tensor}).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header + bytes(data))
    return path


def test_its_tensors_are_known_without_reading_them(tmp_path: Path) -> None:
    assert read_header(write(tmp_path, GOOD)) == {"x": TensorInfo("int32", (2, 3))}


def test_it_is_what_safetensors_writes(tmp_path: Path) -> None:
    pytest.importorskip("safetensors")
    import torch
    from safetensors.torch import save_file

    path = tmp_path / "t.safetensors"
    tensors = {"a": torch.ones(2, 3, dtype=torch.bfloat16), "b": torch.tensor(True)}
    save_file(tensors, path)
    assert read_header(path) == {
        "a": TensorInfo("bfloat16", (2, 3)),
        "b": TensorInfo("bool", ()),
    }


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"data_offsets": [0, 23]}, r"int32\[2, 3\] in 23 bytes of 24"),
        ({"data_offsets": [8, 32]}, "in 24 bytes of 24"),
        ({"data_offsets": [24, 0]}, "in -24 bytes"),
        ({"shape": [-2, -3]}, "without dtype, shape or offsets"),
        ({"shape": [2.0, 3]}, "without dtype, shape or offsets"),
        ({"shape": None}, "without dtype, shape or offsets"),
        ({"data_offsets": [0]}, "without dtype, shape or offsets"),
        ({"shape": [1 << 62, 1 << 62]}, "in 24 bytes"),
    ],
)
def test_a_tensor_that_is_not_there_is_told(tmp_path: Path, changes: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read_header(write(tmp_path, {**GOOD, **changes}))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"short",
        (1 << 60).to_bytes(8, "little") + b"{}",
        (4).to_bytes(8, "little") + b"{,,}",
        (2).to_bytes(8, "little") + b"[]",
        (60_000).to_bytes(8, "little") + b"[" * 60_000,
        b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n",
    ],
)
def test_what_is_no_safetensors_file_is_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "t.safetensors"
    path.write_bytes(data)
    with pytest.raises(UsageError, match="is not a complete safetensors file"):
        read_header(path)
