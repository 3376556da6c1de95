"""The cache by the names of ops."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from fictl.builds.cached import clear_builds, contents, explain_ops, verify
from fictl.errors import UsageError
from fictl.jit.store.stores import STORE_FILE
from fictl.paths import cache_root
from fictl.version import VERSION

pytestmark = pytest.mark.needs_nvcc


@pytest.fixture
def built(twice_build: Path) -> Path:
    return twice_build


def test_an_empty_cache_holds_nothing(tiny: Path) -> None:
    found = contents()
    assert (found.builds, found.size) == ((), 0)
    assert found.to_dict()["entries"] == []


def test_a_build_is_described_by_all_that_is_asked_of_it(built: Path) -> None:
    (entry,) = contents().to_dict()["entries"]
    assert (entry["project"], entry["module"]) == ("tiny", "elementwise.twice")
    assert (entry["archs"], entry["variant"], entry["device"]) == (["8.0"], "release", "cuda")
    assert (entry["origin"], entry["in_use"], entry["corrupt"]) == ("cache", False, False)
    assert entry["path"] == str(built)
    assert entry["size"] > (built / "module.so").stat().st_size
    assert 0 < entry["created"] <= entry["last_used"] + 1


def test_the_size_is_that_of_every_file_in_the_cache(built: Path) -> None:
    files = (path for path in cache_root().rglob("*") if path.is_file())
    assert contents().size == sum(path.stat().st_size for path in files)


@pytest.mark.parametrize(
    "name",
    [
        "twice",
        "elementwise",
        "tiny/twice",
        "tiny/elementwise",
        "elementwise/twice",
        "elementwise.twice",
        "tiny/elementwise.twice",
    ],
)
def test_an_op_is_found_however_it_is_named(built: Path, name: str) -> None:
    assert len(contents([name]).builds) == 1


def test_a_build_outlives_its_op(built: Path, tiny: Path) -> None:
    shutil.rmtree(tiny / "kernels" / "elementwise" / "twice")
    assert len(contents(["twice"]).builds) == 1


def test_an_op_that_was_never_built_has_nothing(built: Path) -> None:
    assert contents(["fictl/scale"]).builds == ()


def test_a_name_that_means_nothing_is_refused(built: Path) -> None:
    with pytest.raises(UsageError, match="there is no op 'twise'") as caught:
        contents(["twise"])
    assert "fictl cache show lists what is cached" in caught.value.hint


def test_read_only_stores_are_listed_with_their_place(built: Path, monkeypatch, tmp_path) -> None:
    store = tmp_path / "store"
    shutil.copytree(cache_root(), store)
    (store / STORE_FILE).write_text(f'{{"fictl": "{VERSION}"}}')
    monkeypatch.setenv("FICTL_STORES", str(store))
    found = contents()
    assert {entry["origin"] for entry in found.to_dict()["entries"]} == {"cache", str(store)}
    before = found.size
    monkeypatch.delenv("FICTL_STORES")
    assert contents().size == before


def test_clear_of_one_op_takes_all_that_is_its_own(built: Path) -> None:
    done = clear_builds(["twice"], force=False, dry_run=False)
    assert {item.module for item in done.removed if item.module} == {"elementwise.twice"}
    assert contents().builds == ()
    assert not list(cache_root().glob("v1/tiny/*"))


def test_verify_reads_all_stores(built: Path, monkeypatch, tmp_path) -> None:
    shutil.copytree(cache_root(), tmp_path / "store")
    monkeypatch.setenv("FICTL_STORES", str(tmp_path / "store"))
    (next((tmp_path / "store").glob("v1/*/*/*/*/module.so"))).write_bytes(b"")
    found = verify(repair=False)
    assert [broken.store for broken in found.broken] == [tmp_path / "store"]
    assert found.checked >= 4


def test_explain_has_a_verdict_for_each_module(built: Path) -> None:
    (verdict,) = explain_ops(["twice"], ())
    assert (verdict.project, verdict.module, verdict.hit) == ("tiny", "elementwise.twice", True)
