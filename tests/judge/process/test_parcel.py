"""Tensors in files that a hostile process may have written."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from fictl.judge.process import parcel
from fictl.judge.process.parcel import Damaged


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float8_e4m3fn", "int64", "bool"])
def test_a_tensor_arrives_bit_by_bit(dtype: str, tmp_path: Path) -> None:
    sent = torch.arange(24).reshape(4, 6).to(getattr(torch, dtype)).t()
    parcel.write(tmp_path / "p", {"x": sent, "nothing": torch.empty(0, 3), "one": torch.tensor(1)})
    got = parcel.read(tmp_path / "p", "cpu")
    assert got["x"].dtype == sent.dtype
    assert got["x"].shape == sent.shape
    assert torch.equal(got["x"].float(), sent.float())
    assert got["nothing"].shape == (0, 3)
    assert got["one"].shape == ()


@pytest.mark.parametrize(
    "said",
    [
        ["float32", [5]],
        ["float32", [-1, -4]],
        ["Tensor", [4]],
        ["float32", "4"],
        [["float32"], [4]],
        ["float32"],
        "float32",
        5,
    ],
)
def test_a_lie_about_a_tensor_is_found(said: object, tmp_path: Path) -> None:
    data = {"x": torch.zeros(16, dtype=torch.uint8)}
    save_file(data, tmp_path / "p", {"tensors": json.dumps({"x": said})})
    with pytest.raises(Damaged):
        parcel.read(tmp_path / "p", "cpu")


@pytest.mark.parametrize("content", [b"", b"\0" * 64, b"\xff" * 64, b"{}"])
def test_what_is_no_parcel_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "p").write_bytes(content)
    with pytest.raises(Damaged):
        parcel.read(tmp_path / "p", "cpu")


def test_a_missing_parcel_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Damaged):
        parcel.read(tmp_path / "p", "cpu")


@pytest.mark.parametrize("kind", ["link", "fifo", "folder", "large"])
def test_what_hangs_or_misleads_who_reads_it_is_refused(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "p"
    if kind == "link":
        parcel.write(tmp_path / "other", {"x": torch.zeros(4)})
        path.symlink_to(tmp_path / "other")
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        with path.open("wb") as file:
            file.truncate(1 << 40)
    with pytest.raises(Damaged):
        parcel.read(path, "cpu", 1 << 20)
