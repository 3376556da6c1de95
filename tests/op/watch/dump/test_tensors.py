"""Tensors come back with shape, strides, dtype and bits, from both kinds of file, or are refused."""

from __future__ import annotations

import os
import pickle
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from fictl.op.watch.dump.record import Refused, TensorFile
from fictl.op.watch.dump.tensors import read_tensors, restored, stored_bytes, write_tensors

X = torch.arange(48, dtype=torch.float32).reshape(4, 12)
TENSORS = {
    "dense": X,
    "transposed": X.t(),
    "pitched": X[:, 2:5],
    "every second": X[:, ::2],
    "expanded": X[:, :1].expand(4, 1000),
    "number": torch.tensor(3.5),
    "empty": torch.empty(0, 4),
    "nan": torch.tensor([float("nan"), -0.0]),
    **{
        str(dtype): X.to(torch.int8).to(dtype)
        for dtype in (
            torch.float64,
            torch.bfloat16,
            torch.float16,
            torch.int8,
            torch.uint8,
            torch.int64,
            torch.bool,
            torch.float8_e4m3fn,
            torch.float8_e5m2,
        )
    },
}


@pytest.mark.parametrize("as_safetensors", [True, False], ids=["safetensors", "pt"])
@pytest.mark.parametrize("name", TENSORS)
def test_a_tensor_comes_back_as_it_was(tmp_path: Path, name: str, as_safetensors: bool) -> None:
    tensor = TENSORS[name]
    described = write_tensors(tmp_path, "inputs", {"x": tensor}, as_safetensors)
    stored = read_tensors(tmp_path, described)["x"]
    found = restored(stored, described.tensors["x"], "cpu")
    assert (found.shape, found.stride(), found.dtype) == (
        tensor.shape,
        tensor.stride(),
        tensor.dtype,
    )
    assert found.contiguous().view(-1).view(torch.uint8).tolist() == (
        tensor.contiguous().view(-1).view(torch.uint8).tolist()
    )


def test_numpy_is_not_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    described = write_tensors(tmp_path, "inputs", {"x": X.bfloat16()}, True)
    assert torch.equal(read_tensors(tmp_path, described)["x"], X.bfloat16())


def test_what_is_repeated_is_written_once(tmp_path: Path) -> None:
    assert stored_bytes(TENSORS["expanded"]) == 16
    described = write_tensors(tmp_path, "inputs", {"x": TENSORS["expanded"]}, True)
    assert described.size < 200


def test_views_of_one_tensor_are_written_each(tmp_path: Path) -> None:
    described = write_tensors(tmp_path, "inputs", {"a": X[:2], "b": X[1:]}, True)
    assert torch.equal(read_tensors(tmp_path, described)["b"], X[1:])


@pytest.fixture
def written(tmp_path: Path) -> TensorFile:
    return write_tensors(tmp_path, "inputs", {"x": X}, True)


def changed(written: TensorFile, **layout: object) -> TensorFile:
    """The same file, described otherwise."""
    tensors = {"x": written.tensors["x"].model_copy(update=layout)}
    return written.model_copy(update={"tensors": tensors})


def resized(written: TensorFile, path: Path) -> TensorFile:
    return written.model_copy(update={"file": path.name, "size": path.stat().st_size})


@pytest.mark.parametrize("name", ["../inputs.safetensors", "/etc/passwd", "x.bin", "", "."])
def test_a_file_elsewhere_is_refused(tmp_path: Path, written: TensorFile, name: str) -> None:
    with pytest.raises(Refused, match="a dump has only"):
        read_tensors(tmp_path, written.model_copy(update={"file": name}))


def test_a_link_out_of_the_folder_is_refused(tmp_path: Path, written: TensorFile) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "inputs.safetensors").symlink_to(tmp_path / "inputs.safetensors")
    with pytest.raises(Refused, match="a link that leaves its folder"):
        read_tensors(inside, written)


def test_what_is_no_file_is_refused(tmp_path: Path, written: TensorFile) -> None:
    (tmp_path / "inputs.safetensors").unlink()
    os.mkfifo(tmp_path / "inputs.safetensors")
    with pytest.raises(Refused, match=r"has no inputs\.safetensors"):
        read_tensors(tmp_path, written)


def test_a_truncated_file_is_refused(tmp_path: Path, written: TensorFile) -> None:
    path = tmp_path / "inputs.safetensors"
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(Refused, match=f"has {written.size - 8} bytes, its metadata says"):
        read_tensors(tmp_path, written)


def test_a_damaged_header_is_refused(tmp_path: Path, written: TensorFile) -> None:
    path = tmp_path / "inputs.safetensors"
    path.write_bytes(b"\xff" * written.size)
    with pytest.raises(Refused, match="cannot be read"):
        read_tensors(tmp_path, written)


def test_other_tensors_than_said_are_refused(tmp_path: Path, written: TensorFile) -> None:
    path = tmp_path / "inputs.safetensors"
    save_file({"y": X}, path)
    with pytest.raises(Refused, match="has other tensors than its metadata names"):
        read_tensors(tmp_path, resized(written, path))


@pytest.mark.parametrize(
    ("layout", "said"),
    [
        ({"shape": (4, 13)}, "its metadata says"),
        ({"dtype": "int32"}, "its metadata says"),
        ({"stride": (12,)}, "has shape"),
        ({"stride": (1 << 60, 1)}, "would span"),
        ({"stride": (0, 1)}, "its metadata says"),
    ],
)
def test_a_layout_that_does_not_fit_is_refused(tmp_path, written, layout, said) -> None:
    with pytest.raises(Refused, match=said):
        read_tensors(tmp_path, changed(written, **layout))


class Evil:
    """Unpickled, it would write a file."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self):
        return (Path.touch, (self.target,))


@pytest.mark.parametrize("form", ["pickle", "torch"])
def test_a_pickle_is_refused_and_not_run(tmp_path: Path, written: TensorFile, form: str) -> None:
    path, target = tmp_path / "inputs.pt", tmp_path / "touched"
    if form == "torch":
        torch.save({"x": Evil(target)}, path)
    else:
        path.write_bytes(pickle.dumps({"x": Evil(target)}))
    with pytest.raises(Refused, match=r"inputs\.pt cannot be read"):
        read_tensors(tmp_path, resized(written, path))
    assert not target.exists()


def test_a_pt_file_of_something_else_is_refused(tmp_path: Path, written: TensorFile) -> None:
    path = tmp_path / "inputs.pt"
    torch.save({"x": [1]}, path)
    with pytest.raises(Refused, match="is not a tensor but list"):
        read_tensors(tmp_path, resized(written, path))
