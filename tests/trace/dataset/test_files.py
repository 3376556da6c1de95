from __future__ import annotations

from pathlib import Path

import pytest

from fictl.errors import UsageError
from fictl.trace.dataset.files import DatasetFiles


def write(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}")
    return path


def test_hidden_files_are_nobodys(tmp_path: Path) -> None:
    kept = write(tmp_path / "definitions/add/a.json")
    write(tmp_path / "definitions/.git/b.json")
    write(tmp_path / "definitions/add/.c.json")
    assert DatasetFiles(tmp_path).definitions() == [kept]


def test_a_blob_is_in_the_dataset(tmp_path: Path) -> None:
    blob = write(tmp_path / "data/blob/w.safetensors")
    (tmp_path / "data/blob/link").symlink_to(blob)
    files = DatasetFiles(tmp_path / "data")
    assert files.blob("./blob/w.safetensors") == blob
    assert files.blob("blob/link") == blob


def test_a_link_that_leads_out_of_the_dataset_is_refused(tmp_path: Path) -> None:
    outside = write(tmp_path / "secret")
    (tmp_path / "data/blob").mkdir(parents=True)
    (tmp_path / "data/blob/link").symlink_to(outside)
    (tmp_path / "data/folder").symlink_to(tmp_path)
    files = DatasetFiles(tmp_path / "data")
    for path in ("blob/link", "folder/secret"):
        with pytest.raises(UsageError, match="leads out of the dataset, to"):
            files.blob(path)


def test_a_blob_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not there") as info:
        DatasetFiles(tmp_path).blob("blob/none")
    assert "git lfs pull" in info.value.hint


def test_a_new_blob_has_its_place(tmp_path: Path) -> None:
    path = DatasetFiles(tmp_path).new_blob("add", "add_n", "w1")
    assert path == tmp_path / "blob/workloads/add/add_n/add_n_w1.safetensors"
