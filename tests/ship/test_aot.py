"""A folder of prebuilt modules: what goes in, what stays, and that it serves."""

from __future__ import annotations

import json
import shutil
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest

from fictl.arch import Arch
from fictl.builds.building import build
from fictl.errors import UsageError
from fictl.jit.ffi import ffi_paths
from fictl.jit.progress import LogObserver
from fictl.jit.store.entry import Entry
from fictl.jit.store.stores import STORE_FILE, Store
from fictl.paths import cache_root, own_folders
from fictl.project import find
from fictl.sealed import seal, unseal
from fictl.ship import aot
from fictl.ship.aot import ship
from fictl.toolchain import require_nvcc
from fictl.version import VERSION

from ..cudart import put_cudart

pytestmark = pytest.mark.needs_nvcc


@pytest.fixture
def out(twice_build: Path, tmp_path: Path) -> Path:
    """The op is built already: what is tested is what becomes of builds."""
    return tmp_path / "out"


def _ship(out: Path, *names: str, archs: tuple[Arch, ...] = ()):
    return ship(out, names, archs, LogObserver())


def _files(out: Path) -> list[str]:
    return sorted(path.name for path in out.rglob("*") if path.is_file())


def _launcher(tiny: Path) -> Path:
    return tiny / "kernels" / "elementwise" / "twice" / "launcher.cu"


def test_every_module_comes_with_its_manifest_and_nothing_else(out: Path) -> None:
    shipped = _ship(out)
    assert [built.error for built in shipped.built] == [None]
    assert _files(out) == ["manifest.json", "module.so", STORE_FILE]
    assert json.loads((out / STORE_FILE).read_text()) == {"fictl": VERSION}


def test_what_was_copied_is_whole_and_readable_by_all(out: Path) -> None:
    (built,) = _ship(out).built
    entry = Entry.read(Path(built.path))
    entry.verify(everything=True)
    assert entry.path.is_relative_to(out)
    for path in (out / STORE_FILE, entry.module, entry.path / "manifest.json"):
        assert path.stat().st_mode & stat.S_IROTH


def test_no_path_of_this_machine_goes_along(out: Path, tiny: Path) -> None:
    """Not of the project, the user, the environment, the checkout, the cache: in no byte of a file."""
    _ship(out)
    folders = {tiny, tiny.parent, cache_root(), *own_folders().values(), ffi_paths().tvm_ffi}
    files = [path for path in out.rglob("*") if path.is_file()]
    assert len(files) == 3
    assert not [
        (path.name, folder)
        for path in files
        for folder in folders
        if str(folder).encode() in path.read_bytes()
    ]


def test_a_library_that_names_a_file_of_this_machine_is_left_out(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = own_folders()["fictl"] / "precious.h"
    monkeypatch.setenv("FICTL_EXTRA_LDFLAGS", f"-Wl,-rpath,{place}")
    (built,) = _ship(out).built
    assert "module.so names a file in " in built.error.message
    assert _files(out) == [STORE_FILE]


def test_once_more_changes_nothing(out: Path, listing_of) -> None:
    _ship(out)
    before = listing_of(out)
    _ship(out)
    assert listing_of(out) == before


def test_architectures_are_those_asked_for(out: Path) -> None:
    (built,) = _ship(out, archs=(Arch(8, 0), Arch(9, 0, "a"))).built
    assert built.archs == ("8.0", "9.0a")


@pytest.fixture
def wide(tiny: Path) -> None:
    """The cache holds a build of more architectures than a test asks for, and nothing else."""
    build(["twice"], (Arch(8, 0), Arch(8, 6), Arch(9, 0, "a")), LogObserver())


ASKED = {
    "by a flag": ((Arch(8, 0), Arch(9, 0, "a")), ""),
    "by the list": ((), "8.0 9.0a"),
    "by the list, in other words": ((), "sm_90a;80"),
}


@pytest.mark.parametrize(("archs", "listed"), ASKED.values(), ids=ASKED)
def test_a_cached_build_of_more_is_not_what_was_asked_for(
    wide: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, archs, listed: str
) -> None:
    monkeypatch.setenv("FICTL_CUDA_ARCH_LIST", listed)
    (built,) = _ship(tmp_path / "out", archs=archs).built
    assert (built.archs, built.beyond, built.compiled) == (("8.0", "9.0a"), (), True)
    (again,) = _ship(tmp_path / "out", archs=archs).built
    assert (again.archs, again.compiled) == (built.archs, False)


@pytest.mark.parametrize(("archs", "listed"), ASKED.values(), ids=ASKED)
def test_where_nothing_can_compile_a_build_of_more_is_taken_and_told(
    wide: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, archs, listed: str
) -> None:
    monkeypatch.setenv("FICTL_CUDA_ARCH_LIST", listed)
    monkeypatch.setenv("FICTL_DISABLE_JIT", "1")
    (built,) = _ship(tmp_path / "out", archs=archs).built
    assert (built.archs, built.beyond) == (("8.0", "8.6", "9.0a"), ("8.6",))


def test_where_nothing_can_compile_a_build_of_less_is_not_taken(
    wide: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FICTL_CUDA_ARCH_LIST", "8.0 8.9")
    monkeypatch.setenv("FICTL_DISABLE_JIT", "1")
    (built,) = _ship(tmp_path / "out").built
    assert "FICTL_DISABLE_JIT forbids" in built.error.message


def test_what_the_toolkit_lacks_is_told_of_a_cached_build_too(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Notes(LogObserver):
        said: ClassVar[list[str]] = []

        def note(self, text: str) -> None:
            self.said.append(text)

    refuse = lambda nvcc, arch: arch.major < 10  # noqa: E731
    monkeypatch.setattr("fictl.toolchain.targets.can_target", refuse)
    for _ in range(2):
        (built,) = ship(out, [], (Arch(8, 0), Arch(10, 3, "a")), Notes()).built
        assert built.archs == ("8.0",)
    assert len([line for line in Notes.said if "10.3a" in line]) == 2


def test_builds_for_other_architectures_stay_beside_each_other_and_are_named(out: Path) -> None:
    assert _ship(out, archs=(Arch(8, 0),)).kept == ()
    second = _ship(out, archs=(Arch(9, 0, "a"),))
    assert (second.replaced, second.kept) == (0, (("elementwise.twice", ("8.0",)),))
    assert len(list(out.rglob("module.so"))) == 2


def test_a_build_of_edited_sources_takes_the_place_of_the_old_one(out: Path, tiny: Path) -> None:
    _ship(out)
    launcher = _launcher(tiny)
    launcher.write_text(launcher.read_text() + "// edited\n")
    assert _ship(out).replaced == 1
    assert len(list(out.rglob("module.so"))) == 1


def test_a_failure_is_reported_and_leaves_the_others_and_what_was_there(
    out: Path, tiny: Path
) -> None:
    _ship(out)
    other = shutil.copytree(_launcher(tiny).parent, _launcher(tiny).parents[1] / "thrice")
    (other / "op.py").write_text((other / "op.py").read_text().replace("def twice", "def thrice"))
    _launcher(tiny).write_text("#error half done\n")
    results = {built.module: built for built in _ship(out).built}
    assert results["elementwise.thrice"].error is None
    assert "half done" in results["elementwise.twice"].error.message
    assert len(list(out.glob("v1/tiny/elementwise.twice/*/*/module.so"))) == 1


def test_a_folder_with_something_else_in_it_is_refused(out: Path) -> None:
    out.mkdir()
    (out / "precious").touch()
    with pytest.raises(UsageError, match="holds something that fictl did not put there"):
        _ship(out)
    assert _files(out) == ["precious"]


def test_another_run_may_begin_the_folder_meanwhile(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out.mkdir()
    looks = []
    real = Path.iterdir

    def begun_before_the_look(folder: Path) -> Iterator[Path]:
        if folder == out:
            looks.append(folder)
            (out / STORE_FILE).write_text("{}")
        return real(folder)

    monkeypatch.setattr(Path, "iterdir", begun_before_the_look)
    assert aot._open(out).root == out
    assert len(looks) == 1


def test_a_file_in_its_place_is_refused(out: Path) -> None:
    out.touch()
    with pytest.raises(UsageError, match="holds something"):
        _ship(out)


@pytest.mark.parametrize("text", ['{"fictl": "0.0.9"}', "{"])
def test_a_folder_of_another_version_is_added_to(out: Path, text: str) -> None:
    out.mkdir()
    (out / STORE_FILE).write_text(text)
    assert [built.error for built in _ship(out).built] == [None]
    assert json.loads((out / STORE_FILE).read_text()) == {"fictl": VERSION}


@pytest.mark.parametrize(
    ("device", "setting", "variant"),
    [
        ("cuda", "FICTL_JIT_DEBUG", "debug"),
        ("cuda", "FICTL_JIT_LINEINFO", "lineinfo"),
        ("cuda", "FICTL_JIT_PROFILE", "profile"),
        ("emu", "FICTL_EMU_CHECK", "check"),
        ("emu", "FICTL_JIT_DEBUG", "debug"),
    ],
)
def test_only_builds_that_are_the_same_everywhere_are_shipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, device: str, setting: str, variant: str
) -> None:
    monkeypatch.setenv("FICTL_DEVICE", device)
    monkeypatch.setenv(setting, "1")
    with pytest.raises(UsageError, match=f"ask for {variant} builds, which are not shipped"):
        _ship(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_build_for_this_cpu_alone_is_named_and_left_out(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FICTL_EXTRA_CFLAGS", "-march=native")
    (built,) = _ship(out).built
    assert "is not shipped: it was compiled for the CPU of its own machine" in built.error.message
    assert _files(out) == [STORE_FILE]


def test_a_cached_build_of_an_older_fictl_is_built_anew(out: Path, twice_build: Path) -> None:
    manifest = twice_build / "manifest.json"
    manifest.write_text(seal({**unseal(manifest.read_text()), "platform": ""}))
    (built,) = _ship(out).built
    assert (built.error, built.compiled) == (None, True)
    assert Entry.read(Path(built.path)).manifest.platform


def test_a_build_of_an_older_fictl_is_not_shipped_where_nothing_can_compile(
    out: Path, twice_build: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = twice_build / "manifest.json"
    manifest.write_text(seal({**unseal(manifest.read_text()), "platform": ""}))
    monkeypatch.setenv("FICTL_DISABLE_JIT", "1")
    (built,) = _ship(out).built
    assert "its platform is not known" in built.error.message


def test_the_folder_serves_where_nothing_can_compile(
    out: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _ship(out)
    torchs = put_cudart(tmp_path / "nvidia" / "cuda_runtime" / "lib", require_nvcc().cudart_major)
    monkeypatch.setenv("FICTL_WORKSPACE_BASE", str(tmp_path / "another"))
    monkeypatch.setenv("FICTL_STORES", str(out))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("fictl.toolchain.search._ROOTS", ())
    monkeypatch.setattr("fictl.toolchain.search._wheels", lambda: ())
    monkeypatch.setattr("sys.path", [*sys.path, str(torchs.parents[3])])
    module = find("twice")[0].load("jit").module().build_and_load()
    assert module.twice(21) == 42
    assert not (tmp_path / "another").exists()


def test_the_store_says_that_it_is_prebuilt(out: Path) -> None:
    _ship(out)
    assert len(Store(out, prebuilt=True).entries("tiny", "elementwise.twice")) == 1


def test_the_folder_may_be_a_link_and_nothing_below_it(out: Path, tmp_path: Path) -> None:
    real, outside = tmp_path / "real", tmp_path / "outside"
    real.mkdir()
    out.symlink_to(real)
    (built,) = _ship(out).built
    assert (real / STORE_FILE).is_file()
    module = Path(built.path).parents[1]
    (outside / "old-recipe").mkdir(parents=True)
    (outside / "old-recipe" / "precious").touch()
    shutil.rmtree(module)
    module.symlink_to(outside)
    with pytest.raises(UsageError, match="is a link, which leads out of"):
        _ship(out)
    assert [path.name for path in outside.rglob("*")] == ["old-recipe", "precious"]


def test_a_link_among_recipes_is_left(out: Path, tmp_path: Path) -> None:
    (built,) = _ship(out).built
    link = Path(built.path).parents[1] / "linked"
    link.symlink_to(tmp_path)
    assert _ship(out).replaced == 0
    assert link.is_symlink()
