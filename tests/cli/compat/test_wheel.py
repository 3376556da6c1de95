"""fictl compat wheel: a package for engines that import `flashinfer`."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path


def test_a_wheel_is_written_and_how_to_use_it_is_said(fictl, tmp_path: Path) -> None:
    answer = fictl("compat", "wheel", "--out", str(tmp_path / "dist"), "--version", "0.7.2.post1")
    (wheel,) = (tmp_path / "dist").iterdir()
    assert answer.code == 0
    assert wheel.name.startswith("flashinfer_python-0.7.2.post1+fictl.")
    assert f"pip install {wheel}" in answer.out
    again = fictl(
        "compat", "wheel", "--out", str(tmp_path / "dist"), "--version", "0.7.2.post1", "--json"
    )
    assert again.document["data"]["path"] == str(wheel)


def test_a_dry_run_writes_nothing(fictl, tmp_path: Path) -> None:
    answer = fictl("compat", "wheel", "--out", str(tmp_path / "dist"), "--dry-run")
    assert (answer.code, [*tmp_path.iterdir()]) == (0, [])
    assert "would be written" in answer.out


def test_what_pip_would_remove_is_said(fictl, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(metadata, "version", lambda name: {"flashinfer-python": "0.7.2"}[name])
    answer = fictl("compat", "wheel", "--out", str(tmp_path))
    assert "pip removes what is installed here: flashinfer-python 0.7.2" in answer.out


def test_another_version_is_refused(fictl, tmp_path: Path) -> None:
    answer = fictl("compat", "wheel", "--out", str(tmp_path), "--version", "0.8.0")
    assert (answer.code, [*tmp_path.iterdir()]) == (2, [])
    assert "0.7.2, or a post-release" in answer.err
