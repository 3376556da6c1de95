from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from fictl.errors import FictlError
from fictl.farm import tree
from fictl.farm.tree import pack, unpack


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    for name in ("fictl.toml", "kernels/a/op.py", ".git/config", "a/__pycache__/x.pyc"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    (root / "link").symlink_to("/etc/passwd")
    (root / "run.sh").write_text("x")
    (root / "run.sh").chmod(0o755)
    return root


def test_a_project_arrives_as_it_is(project: Path, tmp_path: Path) -> None:
    pack(project, tmp_path / "packed")
    unpack(tmp_path / "packed", tmp_path / "there")
    files = {
        str(p.relative_to(tmp_path / "there"))
        for p in (tmp_path / "there").rglob("*")
        if p.is_file()
    }
    assert files == {"fictl.toml", "kernels/a/op.py", "run.sh"}
    assert (tmp_path / "there" / "run.sh").stat().st_mode & 0o100


def test_equal_files_make_equal_bytes(project: Path, tmp_path: Path) -> None:
    pack(project, tmp_path / "one")
    (project / "fictl.toml").touch()
    pack(project, tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def packed(folder: Path, name: str, kind: bytes = tarfile.REGTYPE, twice: bool = False) -> Path:
    path = folder / "packed"
    with tarfile.open(path, "w:") as archive:
        for _ in range(2 if twice else 1):
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname, entry.size = (
                kind,
                "/etc/passwd",
                3 * (kind == tarfile.REGTYPE),
            )
            archive.addfile(entry, io.BytesIO(b"abc"))
    return path


@pytest.mark.parametrize("name", ["../out", "a/../../out", "/etc/out", "", "a/.."])
def test_names_that_lead_out_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(FictlError):
        unpack(packed(tmp_path, name), tmp_path / "there")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE]
)
def test_only_files_are_unpacked(tmp_path: Path, kind: bytes) -> None:
    with pytest.raises(FictlError, match="is not a file"):
        unpack(packed(tmp_path, "name", kind), tmp_path / "there")


def test_a_file_is_not_there_twice(tmp_path: Path) -> None:
    with pytest.raises(FictlError, match="twice"):
        unpack(packed(tmp_path, "name", twice=True), tmp_path / "there")


def test_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "MOST_BYTES", 2)
    with pytest.raises(FictlError, match="more files or bytes"):
        unpack(packed(tmp_path, "name"), tmp_path / "there")


@pytest.mark.parametrize("data", [b"", b"x" * 600, b"\x1f\x8b" + b"x" * 600])
def test_what_is_no_archive_is_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "packed"
    path.write_bytes(data)
    with pytest.raises(FictlError, match="cannot be unpacked"):
        unpack(path, tmp_path / "there")
