"""Files that are read once: no turn sees what another has written."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from fictl.errors import UsageError
from fictl.judge.inputs import kept_files
from fictl.judge.inputs.kept_files import KeptFiles


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "one.safetensors"
    save_file({"a": torch.arange(4.0), "b": torch.ones(4)}, file)
    return file


def test_it_is_read_once_and_each_gets_a_copy(path: Path) -> None:
    kept = KeptFiles()
    first = kept.load(path, "a", "cpu")
    first.zero_()
    path.unlink()
    second = kept.load(path, "a", "cpu")
    assert second.tolist() == [0, 1, 2, 3]
    second.zero_()
    assert kept.load(path, "a", "cpu").tolist() == [0, 1, 2, 3]


def test_each_tensor_of_a_file_is_one_of_its_own(path: Path) -> None:
    kept = KeptFiles()
    assert kept.load(path, "a", "cpu").tolist() != kept.load(path, "b", "cpu").tolist()
    with pytest.raises(UsageError, match="no tensor 'c'"):
        kept.load(path, "c", "cpu")


def test_what_is_large_is_read_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_files, "_MOST_BYTES", 16)
    kept = KeptFiles()
    kept.load(path, "a", "cpu")
    kept.load(path, "b", "cpu")
    save_file({"a": torch.zeros(4), "b": torch.zeros(4)}, path)
    assert kept.load(path, "a", "cpu").tolist() == [0, 1, 2, 3]
    assert kept.load(path, "b", "cpu").tolist() == [0, 0, 0, 0]
