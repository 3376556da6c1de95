"""Lock files: what is written is read, and drift between a lock and its sources is seen."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fictl.errors import UsageError
from fictl.jit.lock_file import FILE, read_lock
from fictl.jit.recipe import recipe_of
from fictl.jit.store.entry import MODULE, FileStamp
from fictl.project import find
from fictl.ship.lock_file import drifts, lock_path, lock_text, pinned, write_lock

_HASH = "ab" * 32


@dataclass
class _Document:
    manifest: Any


def _build(**changes: Any) -> _Document:
    facts = {
        "project": "tiny",
        "module": "elementwise.twice",
        "device": "cuda",
        "recipe": "0" * 24,
        "build": "1" * 24,
        "platform": "x86_64-linux-glibc2.28",
        "archs": ("8.0", "9.0a"),
        "files": {MODULE: FileStamp(7, 0, _HASH)},
    }
    return _Document(SimpleNamespace(**{**facts, **changes}))


def _snapshot(*builds: _Document) -> Any:
    return SimpleNamespace(name="2026.11", sha256="cd" * 32, documents=builds)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    snapshot = _snapshot(
        _build(build="2" * 24, platform="aarch64-linux"), _build(), _build(module="norm.rms")
    )
    assert write_lock(tmp_path / FILE, snapshot)
    lock = read_lock(tmp_path / FILE)
    assert (lock.snapshot.name, lock.snapshot.sha256) == ("2026.11", "cd" * 32)
    assert [module.name for module in lock.modules] == ["tiny/elementwise.twice", "tiny/norm.rms"]
    (module,) = lock.recipes("tiny/elementwise.twice", "cuda")
    assert {build.platform for build in module.builds} == {
        "aarch64-linux",
        "x86_64-linux-glibc2.28",
    }
    assert module.builds[0].size == 7


def test_the_same_snapshot_changes_no_file(tmp_path: Path) -> None:
    write_lock(tmp_path / FILE, _snapshot(_build()))
    before = (tmp_path / FILE).stat().st_mtime_ns
    assert not write_lock(tmp_path / FILE, _snapshot(_build()))
    assert (tmp_path / FILE).stat().st_mtime_ns == before


def test_text_of_others_stays_text(tmp_path: Path) -> None:
    hostile = 'x" }]\n[[module]]\nname = "tiny/evil"\ndevice = "\\'
    (tmp_path / FILE).write_text(lock_text(_snapshot(_build(platform=hostile))), encoding="utf-8")
    lock = read_lock(tmp_path / FILE)
    assert lock.modules[0].builds[0].platform == hostile
    assert len(lock.modules) == 1


@pytest.fixture
def twice(tiny: Path):
    """The spec of tiny's module, and a function that writes the lock of some recipes."""
    spec = find("twice")[0].load("jit").module()

    def lock(*recipes: str, module: str = "elementwise.twice"):
        builds = [_build(recipe=recipe, module=module) for recipe in recipes]
        write_lock(tiny / FILE, _snapshot(*builds))
        return read_lock(tiny / FILE)

    return SimpleNamespace(recipe=recipe_of(spec).key, lock=lock)


def test_a_lock_of_the_sources_as_they_are_has_no_drift(twice) -> None:
    assert drifts(twice.lock(twice.recipe), []) == []


def test_edited_sources_are_drift(twice, tiny: Path) -> None:
    lock = twice.lock(twice.recipe)
    launcher = tiny / "kernels" / "elementwise" / "twice" / "launcher.cu"
    launcher.write_text(launcher.read_text() + "// edited\n", encoding="utf-8")
    (drift,) = drifts(lock, [])
    assert drift.name == "tiny/elementwise.twice"
    assert drift.problem == f"its sources have changed since recipe {twice.recipe}"


def test_new_and_removed_modules_are_drift(twice) -> None:
    problems = {drift.name: drift.problem for drift in drifts(twice.lock("0", module="a.b"), [])}
    assert problems == {
        "tiny/elementwise.twice": "it is not in the lock",
        "tiny/a.b": "the project does not have it any more",
    }


def test_a_lock_for_the_emulated_device_is_compared_on_it(twice, tiny: Path) -> None:
    write_lock(tiny / FILE, _snapshot(_build(device="emu")))
    names = {drift.name for drift in drifts(read_lock(tiny / FILE), [])}
    assert "fictl/emu.runtime" in names


def test_the_lock_belongs_to_the_project_or_to_the_working_folder(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = tiny / "kernels" / "elementwise"
    monkeypatch.chdir(inner)
    assert lock_path() == tiny / FILE
    (tmp_path / "bare").mkdir()
    monkeypatch.chdir(tmp_path / "bare")
    assert lock_path() == tmp_path / "bare" / FILE


def test_a_pull_without_a_name_means_the_lock(twice, tiny: Path) -> None:
    with pytest.raises(UsageError, match="no snapshot is named"):
        pinned("")
    twice.lock(twice.recipe)
    assert pinned("") == ("2026.11", "cd" * 32)
    assert pinned("other") == ("other", "")
