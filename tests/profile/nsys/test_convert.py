"""From a raw stream to a report: with the importer, without one, and with one that does not work."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fictl.errors import SetupError
from fictl.profile.nsys import convert as module
from fictl.profile.nsys.convert import convert


@pytest.fixture
def nsys(tmp_path: Path) -> Path:
    """Where Nsight Compute has it: beside the folder of the importer."""
    path = tmp_path / "host" / "target-linux-x64" / "nsys"
    path.parent.mkdir(parents=True)
    path.touch()
    return path


@pytest.fixture
def importer(nsys: Path, script) -> Callable[[str], None]:
    def put(body: str) -> None:
        (nsys.parents[1] / "linux-desktop").mkdir()
        script("host/linux-desktop/QdstrmImporter", body)

    return put


@pytest.fixture
def stream(tmp_path: Path) -> Path:
    path = tmp_path / "a.qdstrm"
    path.write_bytes(b"\0" * 3_000_000)
    return path


def test_the_importer_beside_nsys_makes_the_report(nsys, importer, stream, tmp_path) -> None:
    importer('[ "$1" = --input-file ] && cp "$2" "$4"')
    convert(nsys, stream, tmp_path / "a.nsys-rep")
    assert (tmp_path / "a.nsys-rep").is_file()
    assert stream.is_file()


def test_it_is_found_behind_a_link_on_path_too(nsys, importer, stream, tmp_path) -> None:
    importer('cp "$2" "$4"')
    link = tmp_path / "bin" / "nsys"
    link.parent.mkdir()
    link.symlink_to(nsys)
    convert(link, stream, tmp_path / "a.nsys-rep")
    assert (tmp_path / "a.nsys-rep").is_file()


def test_without_one_the_stream_is_kept_and_the_fix_is_said(nsys, stream, tmp_path) -> None:
    with pytest.raises(SetupError, match=r"a\.qdstrm is kept \(3 MB\)") as raised:
        convert(nsys, stream, tmp_path / "a.nsys-rep")
    assert "apt install nsight-systems" in raised.value.hint
    assert stream.is_file()


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("echo 'cannot load libQt'; exit 1", "cannot load libQt"),
        ("exit 0", "it says nothing"),
        ("sleep 60", "did not end within"),
    ],
)
def test_one_that_fails_is_said(nsys, importer, stream, tmp_path, monkeypatch, body, said) -> None:
    monkeypatch.setattr(module, "_SECONDS", 0.2)
    importer(body)
    with pytest.raises(SetupError, match=said) as raised:
        convert(nsys, stream, tmp_path / "a.nsys-rep")
    assert "is kept" in raised.value.message


def test_a_library_that_it_lacks_is_named_with_its_package(
    nsys, importer, stream, tmp_path
) -> None:
    lacks = "error while loading shared libraries: libdw.so.1: cannot open shared object file"
    importer(f'echo "$0: {lacks}"; exit 127')
    with pytest.raises(SetupError, match="it says error while loading") as raised:
        convert(nsys, stream, tmp_path / "a.nsys-rep")
    assert "apt install libdw1" in raised.value.hint
