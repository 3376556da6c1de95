from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from fictl.errors import SetupError
from fictl.gpu_lock import folder
from fictl.gpu_lock.folder import lock_folder


def test_the_first_folder_that_is_everybodys_is_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FICTL_GPU_LOCK_DIR")
    modes = {"roots": 0o755, "stealable": 0o777, "shared": 0o1777, "later": 0o1777}
    for name, mode in modes.items():
        (tmp_path / name).mkdir()
        (tmp_path / name).chmod(mode)
    places = [str(tmp_path / name) for name in ("missing", *modes)]
    monkeypatch.setattr(folder, "_PLACES", places)
    assert lock_folder() == tmp_path / "shared"
    monkeypatch.setattr(folder, "_PLACES", places[:3])
    assert lock_folder() == Path(tempfile.gettempdir())


def test_a_setting_names_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FICTL_GPU_LOCK_DIR", str(tmp_path))
    assert lock_folder() == tmp_path
    monkeypatch.setenv("FICTL_GPU_LOCK_DIR", str(tmp_path / "nowhere"))
    with pytest.raises(SetupError, match=r"FICTL_GPU_LOCK_DIR=.*nowhere is not a folder"):
        lock_folder()
