"""Datasets whose code may run: only their owner can write what decides what runs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fictl.errors import FictlError
from fictl.trace.dataset import trusted


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "dataset"
    for name in ("definitions/op/a.json", "solutions/me/op/a/s.json", "traces/me/op/a.jsonl"):
        (root / name).parent.mkdir(parents=True)
        (root / name).write_text("{}")
    for path in [root, *root.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    return root


def test_ones_own_is_trusted_also_through_a_link_to_it(root: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(root)
    assert trusted.require_trusted(tmp_path / "link") == root.resolve()


@pytest.mark.parametrize("mode", [0o020, 0o002])
@pytest.mark.parametrize("name", [".", "solutions", "solutions/me/op/a/s.json", "traces/me/op"])
def test_what_others_can_write_is_refused(root: Path, name: str, mode: int) -> None:
    path = root / name
    path.chmod(path.stat().st_mode | mode)
    with pytest.raises(FictlError, match="can be written by") as caught:
        trusted.require_trusted(root)
    assert caught.value.hint == f"chmod -R go-w '{root}'"


def test_blobs_do_not_decide(root: Path) -> None:
    (root / "blob").mkdir(mode=0o777)
    (root / "blob").chmod(0o777)
    trusted.require_trusted(root)


@pytest.mark.parametrize("name", ["solutions/me/more.json", "solutions/others", "definitions/op/b"])
def test_a_link_inside_is_refused(root: Path, name: str) -> None:
    (root / name).symlink_to("/etc/passwd" if name.endswith("json") else "/etc")
    with pytest.raises(FictlError, match="is a link"):
        trusted.require_trusted(root)


def test_another_users_is_refused_unless_it_is_listed(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trusted, "trusted_users", lambda: {54321})
    with pytest.raises(FictlError, match="its code does not run"):
        trusted.require_trusted(root)
    with pytest.raises(FictlError, match="its code does not run"):
        trusted.require_own_folder(root)
    monkeypatch.setenv("FICTL_SAFE_PROJECTS", str(root))
    trusted.require_trusted(root)
    (root / "solutions").chmod(0o777)
    with pytest.raises(FictlError, match="can be written by others"):
        trusted.require_trusted(root)


def test_what_is_written_to_is_no_link(root: Path) -> None:
    trusted.require_own_folder(root)
    trusted.require_own_folder(root / "new")
    (root / "workloads").symlink_to(os.path.expanduser("~"))
    with pytest.raises(FictlError, match="is a link"):
        trusted.require_own_folder(root)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(FictlError, match="none is not a folder"):
        trusted.require_trusted(tmp_path / "none")
