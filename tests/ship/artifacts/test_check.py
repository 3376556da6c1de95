"""Verifying snapshots: every byte, every claim, and which builds are for this machine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fictl.errors import UsageError
from fictl.jit.store.entry import MANIFEST, MODULE, Entry
from fictl.jit.store.platform import measured
from fictl.ship.artifacts.check import (
    ABSENT,
    CheckedSnapshot,
    check_folder,
    check_url,
    require_good,
)
from fictl.ship.artifacts.folder import ArtifactsFolder
from fictl.ship.artifacts.listing import check, listed
from fictl.ship.artifacts.push import push

from ...servers.static import static_server
from .conftest import OTHER, Watch


@pytest.fixture
def library(tmp_path: Path) -> bytes:
    """A module that loads: a library of this machine's, without a need of any other."""
    import subprocess

    source, module = tmp_path / "m.c", tmp_path / "m.so"
    source.write_text("int answer(void) { return 42; }\n", encoding="utf-8")
    subprocess.run(["cc", "-shared", "-fPIC", "-nostdlib", "-o", module, source], check=True)
    return module.read_bytes()


@pytest.fixture
def good(build, library: bytes, tmp_path: Path):
    """A build that loads here, with the platform that its file has."""
    return build(content=library, platform=str(measured(tmp_path / "m.so")))


def _one(folder: ArtifactsFolder) -> CheckedSnapshot:
    (snapshot,) = check_folder(folder)
    return snapshot


def test_a_whole_snapshot_is_good_and_says_what_loads_here(
    freeze, key, folder, good, build
) -> None:
    freeze("a", good, build("rope.apply", platform=OTHER), build("top.p", ffi_abi="9.9"))
    snapshot = _one(folder)
    by_name = {one.module: one for one in snapshot.builds}
    assert snapshot.signature == "signed by ci"
    assert (by_name["norm.rms"].unfit, by_name["norm.rms"].problems) == ("", ())
    assert "it is for" in by_name["rope.apply"].unfit
    assert "ABI of tvm-ffi 9.9" in by_name["top.p"].unfit
    assert snapshot.is_good
    assert require_good([snapshot]) is None


def _replaced_module(entry: Entry) -> None:
    entry.module.write_bytes(b"X" + entry.module.read_bytes()[1:])


def _truncated(entry: Entry) -> None:
    entry.module.write_bytes(b"")


def _removed(entry: Entry) -> None:
    entry.module.unlink()


def _without_manifest(entry: Entry) -> None:
    (entry.path / MANIFEST).unlink()


def _claims_more(entry: Entry) -> None:
    manifest = replace(entry.manifest, archs=("8.0", "9.0a", "10.0f"))
    (entry.path / MANIFEST).write_text(manifest.to_json(), encoding="utf-8")


def _swapped(entry: Entry) -> None:
    """Other bytes, with a manifest that says so: only the snapshot knows better."""
    from fictl.jit.store.entry import FileStamp

    entry.module.write_bytes(b"other")
    manifest = replace(entry.manifest, files={MODULE: FileStamp.of(entry.module)})
    (entry.path / MANIFEST).write_text(manifest.to_json(), encoding="utf-8")


@pytest.mark.parametrize(
    "damage",
    [_replaced_module, _truncated, _removed, _without_manifest, _claims_more, _swapped],
)
@pytest.mark.parametrize("platform", ["", OTHER], ids=["here", "elsewhere"])
def test_a_damaged_build_is_a_problem_whatever_machine_it_is_for(
    freeze, key, folder, good, build, damage, platform: str
) -> None:
    one = build(platform=platform) if platform else good
    freeze("a", one)
    damage(Entry.read(folder.place(one[0])))
    snapshot = _one(folder)
    assert snapshot.builds[0].problems == (ABSENT,)
    error = require_good([snapshot])
    assert error is not None
    assert "1 of 1 snapshots" in error.message


def test_a_build_that_does_not_load_is_a_problem(freeze, key, folder, build) -> None:
    freeze("a", build(platform=""))
    assert "it does not load" in _one(folder).builds[0].problems[0]


def test_what_was_not_brought_is_no_problem_and_what_was_and_is_gone_is_one(
    pushed, machine, repository: Path, build, good, watch: Watch
) -> None:
    import shutil

    from fictl.ship.artifacts.pull import pull

    theirs = build("rope.apply", platform=OTHER)
    pushed("a", good, theirs)
    pull("a", "", [repository.as_uri()], (), False, machine, watch)
    snapshot = _one(machine)
    assert snapshot.is_good
    assert [one.is_here for one in snapshot.builds] == [True, False]
    shutil.rmtree(machine.place(good[0]))
    assert not _one(machine).is_good


@pytest.mark.parametrize("damage", [_replaced_module, _removed, _without_manifest])
def test_what_an_earlier_pull_brought_is_checked_too(
    pushed, machine, repository: Path, build, good, watch: Watch, damage
) -> None:
    from fictl.ship.artifacts.pull import pull

    theirs = build("rope.apply", platform=OTHER)
    pushed("a", good, theirs)
    for everything in (True, False):
        pull("a", "", [repository.as_uri()], (), everything, machine, watch)
    assert _one(machine).is_good
    damage(Entry.read(machine.place(theirs[0])))
    (damaged,) = (one for one in _one(machine).builds if one.module == "rope.apply")
    assert damaged.problems == (ABSENT,)


def test_a_signature_that_is_not_trusted_is_a_problem(
    freeze, key, folder, good, tmp_path: Path
) -> None:
    signed = freeze("a", good)
    (tmp_path / "trust.toml").unlink()
    assert key.id in _one(folder).problems[0]
    (folder.root / f"{signed.snapshot.path}.minisig").unlink()
    assert _one(folder).is_good  # It is this user's own.


def test_a_repository_is_verified_as_a_folder_is(
    pushed, repository: Path, good, watch: Watch
) -> None:
    pushed("a", good)
    with static_server(repository) as url:
        (snapshot,) = check_url(url, watch)
    assert snapshot.is_good
    assert snapshot.builds[0].is_here
    (blob,) = (repository / "blobs").rglob("?" * 64)
    blob.write_bytes(b"X" + blob.read_bytes()[1:])
    (snapshot,) = check_url(repository.as_uri(), watch)
    assert "other bytes" in snapshot.problems[0]


def test_a_place_is_a_folder_a_repository_or_nothing(
    freeze, key, folder, good, repository: Path, watch: Watch, tmp_path: Path
) -> None:
    freeze("a", good)
    push("a", "", repository.as_uri(), folder, watch)
    assert [one.name for one in check(str(folder.root), watch)] == ["a"]
    assert [one.name for one in check(str(repository), watch)] == ["a"]
    assert [one.signature for one in listed(str(folder.root))] == ["signed by ci"]
    (row,) = listed(repository.as_uri())
    assert (row.name, row.builds) == ("a", 1)
    assert listed("") == []
    for run in (lambda: listed(str(tmp_path)), lambda: check(str(tmp_path), watch)):
        with pytest.raises(UsageError, match="is neither a folder of artifacts nor a repository"):
            run()
    with pytest.raises(UsageError, match="is not a folder of artifacts"):
        check("", watch)
