"""Wheels of prebuilt modules: what is in them, that they repeat, and what is refused."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from fictl.arch import Arch, parse_archs
from fictl.errors import FictlError, UsageError
from fictl.jit.progress import LogObserver
from fictl.jit.store.entry import MANIFEST, MODULE, Entry, Manifest
from fictl.jit.store.stores import STORE_FILE, writable_store
from fictl.paths import cache_root
from fictl.ship.wheel import Wheel, WheelOptions, make_wheels

pytestmark = pytest.mark.needs_nvcc
BOTH = (Arch(8, 0), Arch(9, 0, "a"))
PYPROJECT = '[project]\nname = "tiny-ops"\nversion = "0.3"\nlicense = "MIT"\n'


@pytest.fixture
def options(twice_build: Path, tiny: Path, tmp_path: Path) -> WheelOptions:
    """Make wheels of a project with a pyproject.toml and one op, which is built already for 8.0."""
    (tiny / "pyproject.toml").write_text(PYPROJECT, encoding="utf-8")
    (tiny / "LICENSE").write_text("mine\n", encoding="utf-8")
    return WheelOptions(tmp_path / "dist")


def _make(options: WheelOptions, *names: str, archs: tuple[Arch, ...] = ()) -> list[Wheel]:
    return make_wheels(options, names, archs, LogObserver())


def _files(wheel: Wheel) -> list[str]:
    with zipfile.ZipFile(wheel.path) as archive:
        return archive.namelist()


def _read(wheel: Wheel, end: str) -> bytes:
    with zipfile.ZipFile(wheel.path) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(end)]
        return archive.read(name)


def test_it_is_named_after_the_project_the_cuda_and_the_measured_platform(options) -> None:
    (wheel,) = _make(options)
    cuda = Entry.read(next(cache_root().glob("v1/tiny/*/*/*/manifest.json")).parent).manifest.cudart
    assert (wheel.name, wheel.version) == (f"tiny-ops-prebuilt-cu{cuda}", "0.3")
    assert wheel.path.name.startswith(f"tiny_ops_prebuilt_cu{cuda}-0.3-py3-none-manylinux_2_")
    assert (wheel.modules, wheel.archs) == (("tiny/elementwise.twice",), ("8.0",))


def test_it_holds_a_store_its_texts_the_licence_and_the_bill_of_materials(options) -> None:
    (wheel,) = _make(options)
    package, _, _ = wheel.path.name.partition("-")
    inside = {name.replace(f"{package}-0.3.dist-info", "INFO") for name in _files(wheel)}
    build = {f"{package}/{path}" for path in _store_files()}
    assert inside == build | {
        f"{package}/{STORE_FILE}",
        "INFO/METADATA",
        "INFO/RECORD",
        "INFO/WHEEL",
        "INFO/entry_points.txt",
        "INFO/licenses/LICENSE",
        "INFO/sboms/fictl.cdx.json",
    }
    assert _read(wheel, "licenses/LICENSE") == b"mine\n"
    bom = json.loads(_read(wheel, ".cdx.json"))
    assert bom["metadata"]["component"]["name"] == wheel.name


def _store_files() -> list[str]:
    paths = cache_root().glob("v1/tiny/*/*/*/*")
    return [
        path.relative_to(cache_root()).as_posix()
        for path in paths
        if path.name in (MODULE, MANIFEST)
    ]


def test_made_again_from_another_build_of_the_same_sources_it_has_the_same_bytes(
    options, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Built in another cache, at another time: what a manifest says of these is left out."""
    (first,) = _make(options)
    manifest = next(cache_root().glob("v1/tiny/*/*/*/manifest.json"))
    known = Manifest.from_json(manifest.read_text())
    later = replace(known, created=1.0, seconds=99.0, peak_kib=1, units={"x.o": 1.0}, builder="me")
    shutil.copytree(cache_root(), tmp_path / "other" / ".cache" / "fictl")
    monkeypatch.setenv("FICTL_WORKSPACE_BASE", str(tmp_path / "other"))
    next(cache_root().glob("v1/tiny/*/*/*/manifest.json")).write_text(later.to_json())
    (second,) = _make(replace(options, out=tmp_path / "again"))
    assert second.path.read_bytes() == first.path.read_bytes()


def test_nothing_inside_holds_a_path_of_this_machine(options, tiny: Path) -> None:
    (wheel,) = _make(options)
    with zipfile.ZipFile(wheel.path) as archive:
        contents = b"".join(archive.read(name) for name in archive.namelist())
    for place in (tiny, Path.home(), Path(sys.prefix), cache_root()):
        assert str(place).encode() not in contents


def test_what_is_installed_from_it_is_whole(options, tmp_path: Path) -> None:
    (wheel,) = _make(options)
    with zipfile.ZipFile(wheel.path) as archive:
        archive.extractall(tmp_path / "site")
    (manifest,) = (tmp_path / "site").rglob(MANIFEST)
    entry = Entry.read(manifest.parent)
    entry.verify(everything=True)
    assert entry.manifest.platform.startswith(wheel.tag.rpartition("2_")[2].partition("_")[2])


def test_one_too_large_is_split_by_families_of_gpus(options) -> None:
    (whole,) = _make(options, archs=BOTH)
    size = whole.size
    whole.path.unlink()
    wheels = _make(replace(options, largest=size - 1), archs=BOTH)
    assert [wheel.archs for wheel in wheels] == [("8.0",), ("9.0a",)]
    assert [wheel.name.split("-")[3] for wheel in wheels] == ["sm8x", "sm9x"]
    assert all(wheel.path.is_file() and wheel.size < size for wheel in wheels)
    assert not whole.path.exists()


def test_a_family_is_split_off_without_a_build_of_all(options) -> None:
    wheels = _make(replace(options, split="family"), archs=BOTH)
    assert [wheel.archs for wheel in wheels] == [("8.0",), ("9.0a",)]
    folders = [e.manifest.archs for e in writable_store().entries("tiny", "elementwise.twice")]
    assert BOTH not in folders


def test_without_a_split_one_too_large_names_the_split_that_helps(options) -> None:
    with pytest.raises(FictlError, match=r"tiny-ops-prebuilt has .* over the 2\.0 KiB") as caught:
        _make(replace(options, largest=2048, split="none"), archs=BOTH)
    assert caught.value.hint == "--split auto makes one wheel for each of sm8x, sm9x"
    assert not options.out.exists() or not list(options.out.iterdir())


@pytest.mark.parametrize("split", ["auto", "none"])
def test_where_no_split_helps_fewer_ops_do(options, split: str) -> None:
    with pytest.raises(FictlError) as caught:
        _make(replace(options, largest=2048, split=split))
    assert caught.value.hint.startswith("name fewer ops")


def test_a_module_that_does_not_build_is_no_wheel(options, tiny: Path) -> None:
    launcher = tiny / "kernels" / "elementwise" / "twice" / "launcher.cu"
    launcher.write_text("#error half done\n")
    with pytest.raises(FictlError, match="1 of 1 modules do not build"):
        _make(options)
    assert not options.out.exists()


def test_a_build_that_was_changed_is_not_packed(options, monkeypatch) -> None:
    (module,) = cache_root().glob("v1/tiny/*/*/*/module.so")
    (wheel,) = _make(options)
    wheel.path.unlink()
    monkeypatch.setattr(Entry, "verify", lambda *_, **__: None)  # As if changed just now.
    module.write_bytes(module.read_bytes() + b"\0")
    with pytest.raises(FictlError, match="has other bytes than were published"):
        _make(options)
    assert not list(options.out.iterdir())


@pytest.mark.parametrize("name", ["FICTL_JIT_LINEINFO", "FICTL_JIT_DEBUG", "FICTL_JIT_PROFILE"])
def test_variants_with_paths_of_this_machine_are_refused(options, monkeypatch, name: str) -> None:
    monkeypatch.setenv(name, "1")
    with pytest.raises(UsageError, match="which are not shipped"):
        _make(options)


def test_a_project_without_a_version_asks_for_one(options, tiny: Path) -> None:
    (tiny / "pyproject.toml").unlink()
    with pytest.raises(UsageError, match="the project has no version"):
        _make(options)
    (wheel,) = _make(replace(options, version="2.0", name="other"))
    assert wheel.path.name.startswith("other_cu")


def test_ops_of_two_projects_are_two_wheels(options) -> None:
    with pytest.raises(UsageError, match="these ops are of fictl and tiny"):
        _make(options, "twice", "fictl/scale")


@pytest.mark.skipif(find_spec("twine") is None, reason="needs twine")
def test_twine_takes_it(options) -> None:
    (wheel,) = _make(options)
    command = [sys.executable, "-m", "twine", "check", "--strict", str(wheel.path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_targets_that_a_user_lists_are_those_of_the_wheel(options) -> None:
    archs = parse_archs("8.6 9.0a", tuple)
    (wheel,) = _make(options, archs=archs)
    assert wheel.archs == ("8.6", "9.0a")
