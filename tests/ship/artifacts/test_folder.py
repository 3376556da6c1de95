"""The folder of artifacts: a store for lookups, safe against links, killed runs and other contents."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from fictl.errors import SetupError, UsageError
from fictl.jit.store.entry import MODULE, Entry
from fictl.jit.store.stores import artifacts_store, stores
from fictl.paths import cache_root
from fictl.ship.artifacts.folder import ArtifactsFolder
from fictl.ship.artifacts.snapshot import make_snapshot

from .conftest import NOON, OTHER


def _put(folder: ArtifactsFolder, build: tuple) -> Entry:
    document, content = build
    return folder.put(document, {"url": "x"}, lambda name, target: target.write_bytes(content))


def test_a_build_is_an_entry_of_a_store_that_lookups_see(
    folder: ArtifactsFolder, build, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.make()
    entry = _put(folder, build())
    entry.verify(everything=True)
    assert entry.manifest.origin == {"url": "x"}
    assert folder.entry(build()[0]) is not None
    assert folder.root not in [store.root for store in stores()]
    monkeypatch.setenv("FICTL_ARTIFACTS_DIR", str(folder.root))
    last = [*stores()][-1]
    assert (last.root, last.prebuilt, last.writable) == (folder.root, True, False)
    assert last.entries("mine", "norm.rms")[0].path == entry.path


def test_by_default_it_lies_in_the_cache_for_its_user_alone() -> None:
    folder = ArtifactsFolder.at()
    assert folder.root == cache_root() / "artifacts"
    folder.make()
    assert folder.root.stat().st_mode & 0o777 == 0o700
    folder.root.chmod(0o777)
    with pytest.raises(SetupError, match="can be written by others"):
        [*stores()]


def test_many_runs_at_once_make_it(tmp_path: Path) -> None:
    """Whoever comes between another's look and its mark would take the mark for a stranger's file."""
    for number in range(30):
        folder = ArtifactsFolder.at(tmp_path / f"{number}")
        together = threading.Barrier(4, timeout=30)

        def make(folder: ArtifactsFolder = folder, together: threading.Barrier = together) -> None:
            together.wait()
            folder.make()

        with ThreadPoolExecutor(4) as pool:
            for made in [pool.submit(make) for _ in range(4)]:
                made.result()
        assert folder.exists


def test_local_files_are_hashed_at_load_unless_that_is_switched_off(
    folder: ArtifactsFolder, build, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.make()
    entry = _put(folder, build())
    data = bytearray(entry.module.read_bytes())
    data[0] ^= 1
    entry.module.write_bytes(bytes(data))
    monkeypatch.setenv("FICTL_ARTIFACTS_DIR", str(folder.root))
    asked = ("mine", "norm.rms", "0" * 24, lambda entry: True)
    assert artifacts_store().find(*asked) is None
    monkeypatch.setenv("FICTL_ARTIFACTS_CHECKSUM_DISABLED", "1")
    assert artifacts_store().find(*asked) is not None
    entry.module.write_bytes(b"short")
    assert artifacts_store().find(*asked) is None


@pytest.mark.parametrize(
    "change", [{"archs": ("9.0a",)}, {"content": b"other"}, {"platform": OTHER}], ids=str
)
def test_another_build_of_the_same_key_is_not_taken_for_it_and_is_replaced(
    folder: ArtifactsFolder, build, change: dict
) -> None:
    folder.make()
    _put(folder, build())
    other = build(**change)
    assert folder.entry(other[0]) is None
    _put(folder, other)
    assert folder.entry(other[0]) is not None
    assert folder.entry(build()[0]) is None


def test_one_that_differs_only_in_who_sent_it_is_the_same(folder: ArtifactsFolder, build) -> None:
    folder.make()
    _put(folder, build())
    assert folder.entry(build(builder="another", source={"commit": "x"})[0]) is not None


def test_a_file_that_cannot_be_brought_leaves_nothing(folder: ArtifactsFolder, build) -> None:
    folder.make()

    def half(name: str, target: Path) -> None:
        target.write_bytes(b"half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        folder.put(build()[0], {}, half)
    assert [path.name for path in folder.root.rglob("*")] == ["store.json"]


def test_remains_of_a_killed_run_are_swept_and_those_of_a_running_one_stay(
    folder: ArtifactsFolder,
) -> None:
    folder.make()
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    host = platform.node()
    for pid in (ended.pid, os.getpid()):
        (folder.root / ".staging" / f"{host}+{pid}+aa").mkdir(parents=True)
    (folder.root / ".staging" / f"{host}+{ended.pid}+aa" / MODULE).write_bytes(b"half")
    folder.make()
    assert [path.name for path in (folder.root / ".staging").iterdir()] == [
        f"{host}+{os.getpid()}+aa"
    ]


def test_links_below_the_folder_are_refused(folder: ArtifactsFolder, build, tmp_path: Path) -> None:
    folder.make()
    outside = tmp_path / "outside"
    outside.mkdir()
    (folder.root / "v1").symlink_to(outside)
    with pytest.raises(UsageError, match="is a link, which leads out of"):
        _put(folder, build())
    assert not any(outside.iterdir())


def test_a_folder_with_something_else_in_it_is_refused(folder: ArtifactsFolder) -> None:
    folder.root.mkdir()
    (folder.root / "precious").touch()
    with pytest.raises(UsageError, match="holds something that fictl did not put there"):
        folder.make()
    assert [path.name for path in folder.root.iterdir()] == ["precious"]


def test_the_newest_snapshot_of_a_name_is_found_and_any_by_its_hash(
    freeze, folder: ArtifactsFolder, build
) -> None:
    old = freeze("a", build(), at=NOON)
    new = freeze("a", build("rope.apply"), at=NOON + 60)
    freeze("b", build(), at=NOON + 120)
    assert folder.newest("a").snapshot == new.snapshot
    assert folder.newest("a", old.snapshot.sha256).snapshot == old.snapshot
    assert folder.newest("c") is None
    assert folder.newest("b", old.snapshot.sha256) is None


def test_files_beside_snapshots_that_are_none_are_passed_over(
    freeze, folder: ArtifactsFolder, build
) -> None:
    signed = freeze("a", build())
    snapshots = folder.root / "snapshots"
    (snapshots / f"evil-{'0' * 64}.json").write_bytes(signed.snapshot.data)
    (snapshots / f"bad-{'1' * 64}.json").write_bytes(b"{")
    (snapshots / "notes.json").write_bytes(b"{}")
    assert [one.snapshot.name for one in folder.snapshots()] == ["a"]


def test_it_is_known_which_builds_should_be_here(freeze, folder: ArtifactsFolder, build) -> None:
    theirs = build("rope.apply", platform=OTHER)
    signed = freeze("a", build(), theirs)
    assert folder.held(signed.snapshot) == signed.snapshot.documents
    folder.save(signed, (), everything=False)
    assert [one.manifest.module for one in folder.held(signed.snapshot)] == ["norm.rms"]
    (choice,) = (folder.root / "snapshots").glob("*.choice")
    choice.write_text("nonsense", encoding="utf-8")
    assert folder.held(signed.snapshot) == signed.snapshot.documents
    assert folder.held(make_snapshot("x", [build()[0]], NOON))
