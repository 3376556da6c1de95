"""A lock file in force: which builds are loaded, which are not, and what is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.errors import UsageError
from fictl.jit import MissingBuild
from fictl.jit.lock_file import FILE
from fictl.jit.store.entry import Entry

pytestmark = pytest.mark.needs_nvcc


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def _lock(folder: Path, entry: Entry, sha256: str = "", name: str = "local/answer") -> None:
    manifest = entry.manifest
    sha256 = sha256 or manifest.files["module.so"].sha256
    build = f'{{ build = "{manifest.build}", platform = "", archs = [], sha256 = "{sha256}", size = 1 }}'
    (folder / FILE).write_text(
        f'schema = "fictl.lock/1"\n[snapshot]\nname = "x"\nsha256 = "{sha256}"\n[[module]]\n'
        f'name = "{name}"\ndevice = "cuda"\nrecipe = "{manifest.recipe}"\nbuilds = [{build}]\n',
        encoding="utf-8",
    )


@pytest.fixture(params=["FICTL_LOCKED", "FICTL_DISABLE_JIT"])
def enforce(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch):
    return lambda: monkeypatch.setenv(request.param, "1")


def test_a_build_that_the_lock_names_is_loaded(answer, work: Path, compiled, enforce) -> None:
    _lock(work, answer(7).build())
    before = compiled()
    enforce()
    assert answer(7).build_and_load().answer() == 7
    assert compiled() == before


def test_another_build_of_the_same_sources_is_not_and_nothing_compiles(
    answer, work: Path, compiled, enforce
) -> None:
    _lock(work, answer(7).build(), sha256="ab" * 32)
    before = compiled()
    enforce()
    with pytest.raises(MissingBuild, match="no store has a build of recipe") as caught:
        answer(7).build()
    assert "local/answer is locked by" in caught.value.message
    assert caught.value.hint == "fictl artifacts pull brings them"
    assert caught.value.exit_code == 3
    assert compiled() == before


def test_edited_sources_are_told_from_a_missing_build(answer, work: Path, enforce) -> None:
    old = answer(7).build()
    _lock(work, old)
    enforce()
    with pytest.raises(
        MissingBuild, match=f"as recipe {old.manifest.recipe}; its sources"
    ) as caught:
        answer(8).build_and_load()
    assert "fictl artifacts lock" in caught.value.hint
    assert answer(8).try_load() is None


def test_a_module_that_the_lock_does_not_name_is_as_without(
    answer, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = answer(7).build()
    _lock(work, entry, name="local/other")
    monkeypatch.setenv("FICTL_LOCKED", "1")
    assert answer(8).build_and_load().answer() == 8
    monkeypatch.setenv("FICTL_DISABLE_JIT", "1")
    assert answer(7).build().path == entry.path


def test_a_lock_is_not_read_unless_asked_for(answer, work: Path) -> None:
    (work / FILE).write_text("no lock", encoding="utf-8")
    assert answer(7).build()


def test_the_modules_own_project_has_the_lock_where_the_working_folder_has_none(
    answer, work: Path, tmp_path: Path, enforce
) -> None:
    entry = answer(7).build()
    _lock(tmp_path / "op", entry, sha256="ab" * 32)
    enforce()
    with pytest.raises(MissingBuild, match=f"locked by {tmp_path / 'op' / FILE}"):
        answer(7).build()
    _lock(work, entry)
    assert answer(7).build().path == entry.path


def test_locked_without_a_lock_is_an_error_and_disable_jit_is_not(
    answer, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = answer(7).build()
    monkeypatch.setenv("FICTL_DISABLE_JIT", "1")
    assert answer(7).build().path == entry.path
    monkeypatch.setenv("FICTL_LOCKED", "1")
    with pytest.raises(UsageError, match=r"FICTL_LOCKED asks for a fictl\.lock"):
        answer(7).build()


def test_a_locked_build_with_other_bytes_is_not_loaded(answer, work: Path, enforce) -> None:
    entry = answer(7).build()
    _lock(work, entry)
    entry.module.write_bytes(b"evil" * (entry.module.stat().st_size // 4))
    enforce()
    with pytest.raises(MissingBuild):
        answer(7).build_and_load()


def test_cache_explain_says_that_a_lock_decides(answer, work: Path, enforce) -> None:
    from fictl.jit.cache.explain import explain

    _lock(work, answer(7).build(), sha256="ab" * 32)
    enforce()
    verdict = explain(answer(7))
    assert not verdict.hit
    assert verdict.why.startswith("local/answer is locked by")


def test_a_build_of_another_toolchain_is_loaded_if_the_lock_names_it(
    answer, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With --locked on a machine with a compiler: the hash decides, not the compiler."""
    from dataclasses import replace

    entry = answer(7).build()
    other = replace(entry.manifest, toolchain={"cxx": "another"})
    (entry.path / "manifest.json").write_text(other.to_json(), encoding="utf-8")
    _lock(work, entry)
    monkeypatch.setenv("FICTL_LOCKED", "1")
    assert answer(7).build().path == entry.path
