"""Pulling: what comes, from where, what is refused, and that an interrupted pull goes on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from fictl.arch import Arch
from fictl.errors import FictlError, SetupError
from fictl.jit.remote.document import blob_name
from fictl.jit.store.entry import MODULE
from fictl.ship.artifacts import pull as module
from fictl.ship.artifacts.folder import ArtifactsFolder
from fictl.ship.artifacts.index import INDEX
from fictl.ship.artifacts.pull import Pulled, pull
from fictl.ship.artifacts.snapshot import module_hash
from fictl.ship.artifacts.transfer import NowhereError
from fictl.trust.secret_key import SecretKey

from ...servers.proxy import proxy_of
from ...servers.static import static_server
from .conftest import NOON, OTHER, Watch

Get = Callable[..., Pulled]


@pytest.fixture
def get(machine: ArtifactsFolder, repository: Path, watch: Watch) -> Get:
    """Pull to the other machine."""

    def run(
        name: str = "2026.11",
        sha256: str = "",
        urls: tuple[str, ...] = (),
        archs: tuple[Arch, ...] = (),
        everything: bool = False,
    ) -> Pulled:
        chosen = urls or (repository.as_uri(),)
        return pull(name, sha256, chosen, archs, everything, machine, watch)

    return run


def _blob(repository: Path, build: tuple) -> Path:
    return repository / blob_name(module_hash(build[0]))


def _files(folder: ArtifactsFolder) -> list[str]:
    return sorted(path.name for path in folder.root.rglob("*") if path.is_file())


def test_builds_come_whole_with_their_origin(
    pushed, get: Get, machine, key: SecretKey, watch: Watch
) -> None:
    signed = pushed()
    pulled = get()
    assert (pulled.brought, pulled.present, pulled.others, pulled.missing) == (2, 0, 0, ())
    assert pulled.signed == "signed by ci"
    for one in signed.snapshot.documents:
        entry = machine.entry(one)
        assert entry is not None
        origin = {"url": pulled.url, "key": "ci", "key_id": key.id}
        assert entry.manifest.origin == origin
    assert machine.newest("2026.11").snapshot == signed.snapshot
    assert watch.bytes == pulled.size == signed.snapshot.size
    ((doing, files, size),) = watch.planned_
    assert (doing.startswith("pulling 2026.11 from file://"), files) == (True, 2)
    assert size == signed.snapshot.size


def test_once_more_brings_nothing(pushed, get: Get, watch: Watch) -> None:
    pushed()
    get()
    watch.planned_.clear()
    pulled = get()
    assert (pulled.brought, pulled.present, watch.planned_) == (0, 2, [])


def test_a_plain_web_server_is_enough(pushed, get: Get, repository: Path) -> None:
    signed = pushed()
    with static_server(repository) as url:
        assert get(urls=(url,)).brought == 2
        assert get(sha256=signed.snapshot.sha256, urls=(url,)).present == 2


def test_what_is_pinned_and_here_needs_no_request(pushed, get: Get, repository: Path) -> None:
    signed = pushed()
    with static_server(repository) as url, proxy_of(url) as proxy:
        get(sha256=signed.snapshot.sha256, urls=(proxy.url,))
        proxy.forget()
        get(sha256=signed.snapshot.sha256, urls=(proxy.url,))
        assert proxy.requests == []


def test_files_of_damaged_and_removed_builds_alone_are_brought_again(
    pushed, get: Get, machine, build
) -> None:
    pushed("2026.11", build("a"), build("b"), build("c"))
    get()
    (machine.place(build("a")[0]) / MODULE).write_bytes(b"x")
    for path in machine.place(build("b")[0]).iterdir():
        path.unlink()
    pulled = get()
    assert (pulled.brought, pulled.present) == (2, 1)
    assert machine.entry(build("a")[0]) is not None


def test_a_missing_file_is_an_error_that_names_it_and_the_rest_is_kept(
    pushed, get: Get, machine, build, repository: Path
) -> None:
    pushed()
    lost = _blob(repository, build("norm.rms"))
    data = lost.read_bytes()
    lost.unlink()
    pulled = get()
    assert pulled.error is not None
    assert "mine/norm.rms" in pulled.error.message
    assert lost.name in pulled.error.message
    assert "has nothing of that name" in pulled.error.message
    assert machine.newest("2026.11") is None  # A snapshot that is in the folder is whole.
    assert machine.entry(build("rope.apply")[0]) is not None
    lost.write_bytes(data)
    again = get()
    assert (again.brought, again.present, again.error) == (1, 1, None)


def test_the_next_mirror_has_what_one_lacks_or_has_wrong(
    pushed, get: Get, build, repository: Path, tmp_path: Path
) -> None:
    import shutil

    pushed("2026.11", build("a"), build("b"))
    second = shutil.copytree(repository, tmp_path / "second")
    _blob(repository, build("a")).unlink()
    _blob(second, build("b")).write_bytes(b"x" * len(build("b")[1]))
    urls = ("http://127.0.0.1:9/nobody", repository.as_uri(), second.as_uri())
    assert get(urls=urls).brought == 2


SPOILT: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "truncated": (lambda data: data[:-1], "bytes"),
    "longer": (lambda data: data + b"x" * (1 << 20), "bytes"),
    "other bytes": (lambda data: b"X" + data[1:], "other bytes"),
    "empty": (lambda data: b"", "bytes"),
}


@pytest.mark.parametrize(("spoil", "why"), SPOILT.values(), ids=SPOILT)
def test_spoilt_bytes_are_never_published(
    pushed, get: Get, machine, build, repository: Path, spoil, why: str, monkeypatch
) -> None:
    monkeypatch.setenv("FICTL_ARTIFACTS_CHECKSUM_DISABLED", "1")
    pushed("2026.11", build())
    path = _blob(repository, build())
    path.write_bytes(spoil(path.read_bytes()))
    pulled = get()
    assert why in pulled.missing[0].error.reasons[0][1]
    assert _files(machine) == ["store.json"]


def test_a_link_in_place_of_a_blob_is_not_followed(
    pushed, get: Get, build, repository: Path, tmp_path: Path
) -> None:
    pushed("2026.11", build())
    path = _blob(repository, build())
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    assert get().missing


def test_a_stranger_is_not_believed(
    pushed, get: Get, machine, repository: Path, tmp_path: Path
) -> None:
    pushed()
    (tmp_path / "trust.toml").unlink()
    with pytest.raises(FictlError, match="is signed by key") as caught:
        get()
    assert "not among the trusted ones" in caught.value.message
    assert "fictl trust add NAME KEY" in caught.value.hint
    assert not machine.root.exists()


def test_an_unsigned_and_a_swapped_signature_are_not_believed(
    pushed, get: Get, build, repository: Path
) -> None:
    one, other = pushed("a", build()), pushed("b", build("rope.apply"))
    path = repository / f"{one.snapshot.path}.minisig"
    path.write_text(other.signature, encoding="utf-8")
    with pytest.raises(FictlError, match="is not one of these bytes"):
        get("a")
    path.unlink()
    with pytest.raises(FictlError, match="it is not signed"):
        get("a")


def test_the_newest_trusted_one_is_taken_and_an_untrusted_one_is_told(
    pushed, get: Get, build, repository: Path, watch: Watch
) -> None:
    old = pushed("a", build(), at=NOON)
    new = pushed("a", build("rope.apply"), at=NOON + 60)
    (repository / f"{new.snapshot.path}.minisig").unlink()
    assert get("a").snapshot == old.snapshot
    assert any("is passed over" in note and "not signed" in note for note in watch.notes)


def test_an_older_one_does_not_take_the_place_of_a_newer_one(
    pushed, get: Get, build, repository: Path
) -> None:
    old = pushed("a", build(), at=NOON)
    index = (repository / INDEX).read_bytes()
    new = pushed("a", build("rope.apply"), at=NOON + 60)
    assert get("a").snapshot == new.snapshot
    (repository / INDEX).write_bytes(index)
    assert get("a").snapshot == new.snapshot
    assert get("a", old.snapshot.sha256).snapshot == old.snapshot


def test_an_index_that_calls_an_old_snapshot_new_is_passed_over(
    pushed, get: Get, build, repository: Path, watch: Watch
) -> None:
    pushed("a", build(), at=NOON)
    data = json.loads((repository / INDEX).read_bytes())
    data["snapshots"][0]["created"] = "2099-01-01T00:00:00Z"
    (repository / INDEX).write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(FictlError, match="says that it was made 2099"):
        get("a")


def test_the_newest_of_all_mirrors_counts(
    pushed, get: Get, build, repository: Path, tmp_path: Path
) -> None:
    import shutil

    pushed("a", build(), at=NOON)
    late = shutil.copytree(repository, tmp_path / "late")
    new = pushed("a", build("rope.apply"), at=NOON + 60)
    assert get("a", urls=(late.as_uri(), repository.as_uri())).snapshot == new.snapshot


def test_what_is_nowhere_is_an_error_with_every_place(pushed, get: Get, tmp_path: Path) -> None:
    pushed()
    (tmp_path / "empty").mkdir()
    with pytest.raises(NowhereError, match="a snapshot other is in no repository"):
        get("other")
    with pytest.raises(NowhereError, match="it has no index of snapshots"):
        get(urls=((tmp_path / "empty").as_uri(),))
    with pytest.raises(NowhereError, match="has nothing of that name"):
        get(sha256="0" * 64)


def test_builds_for_other_machines_are_left_where_they_are(
    pushed, get: Get, machine, build
) -> None:
    theirs = build("rope.apply", platform=OTHER)
    abi = build("top.p", ffi_abi="9.9")
    pushed("2026.11", build(), theirs, abi)
    pulled = get()
    assert (pulled.brought, pulled.others) == (1, 2)
    assert machine.entry(theirs[0]) is None
    assert get(everything=True).brought == 2
    assert machine.entry(theirs[0]) is not None


def test_architectures_choose_builds(pushed, get: Get, machine, build) -> None:
    hopper = build("gemm.dense", archs=("9.0a",))
    pushed("2026.11", build(archs=("8.0",)), hopper)
    assert get(archs=(Arch(8, 6),)).brought == 1
    assert machine.entry(hopper[0]) is None


def test_no_download_is_no_request_and_says_what_is_missing_and_what_to_do(
    pushed, get: Get, machine, build, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    signed = pushed("2026.11", build(), build("rope.apply"))
    with static_server(repository) as url, proxy_of(url) as proxy:
        monkeypatch.setenv("FICTL_NO_DOWNLOAD", "1")
        with pytest.raises(SetupError, match=r"has no snapshot 2026\.11, and FICTL_NO_DOWN"):
            get(urls=(proxy.url,))
        monkeypatch.delenv("FICTL_NO_DOWNLOAD")
        get(urls=(proxy.url,))
        proxy.forget()
        monkeypatch.setenv("FICTL_NO_DOWNLOAD", "1")
        assert get(urls=(proxy.url,)).present == 2
        (machine.place(build("rope.apply")[0]) / MODULE).write_bytes(b"x")
        with pytest.raises(SetupError, match=r"mine/rope\.apply; FICTL_NO_DOWNLOAD") as caught:
            get(urls=(proxy.url,))
        assert f"fictl artifacts mirror {proxy.url}" in caught.value.hint
        assert signed.snapshot.sha256 in caught.value.hint
        assert proxy.requests == []
    assert get().brought == 1  # A folder is not a network.


def test_too_little_room_is_said_before_anything_is_brought(
    pushed, get: Get, machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    pushed()
    usage = type("Usage", (), {"free": 10})
    monkeypatch.setattr(module.shutil, "disk_usage", lambda path: usage)
    with pytest.raises(SetupError, match="has room for 10 B"):
        get()


def test_an_own_folder_needs_no_signature(
    freeze, folder, machine, tmp_path: Path, watch: Watch
) -> None:
    from fictl.ship.artifacts.push import push

    freeze()
    url = (tmp_path / "own").as_uri()
    push("2026.11", "", url, folder, watch)
    assert "only you" in pull("2026.11", "", [url], (), False, machine, watch).signed


_KILLED = """
import sys, time
from pathlib import Path
from fictl.jit.remote.folder import FolderBucket
from fictl.ship.artifacts.folder import ArtifactsFolder
from fictl.ship.artifacts.pull import pull
from tests.ship.artifacts.conftest import Watch

whole = FolderBucket.fetch
def slow(self, name, target, size):
    if not Path(sys.argv[3]).exists():
        Path(sys.argv[3]).touch()
        return whole(self, name, target, size)
    target.write_bytes(b"half")
    print("half", flush=True)
    time.sleep(600)
FolderBucket.fetch = slow
pull("2026.11", "", [sys.argv[1]], (), False, ArtifactsFolder.at(Path(sys.argv[2])), Watch())
"""


def test_a_killed_pull_shows_nothing_that_is_not_whole_and_the_next_goes_on(
    pushed, get: Get, machine, build, repository: Path, tmp_path: Path
) -> None:
    pushed("2026.11", *(build(f"op.m{number}") for number in range(4)))
    root = Path(__file__).resolve().parents[3]
    words = [sys.executable, "-c", _KILLED, repository.as_uri(), machine.root, tmp_path / "first"]
    env = {**os.environ, "FICTL_ARTIFACTS_DOWNLOAD_THREADS": "1", "PYTHONPATH": str(root)}
    with subprocess.Popen(words, stdout=subprocess.PIPE, env=env, cwd=root) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"half\n"
        child.send_signal(signal.SIGKILL)
    assert machine.newest("2026.11") is None
    assert len([*machine.root.glob("v1/*/*/*/*/module.so")]) == 1
    pulled = get()
    assert (pulled.brought, pulled.present) == (3, 1)
    kinds = {path.suffix for path in machine.root.rglob("*") if path.is_file()}
    assert kinds == {".json", ".so", ".minisig", ".choice"}
    assert not (machine.root / ".staging").exists()


def test_two_at_once_do_no_harm(pushed, machine, repository: Path, build) -> None:
    import threading

    pushed("2026.11", *(build(f"op.m{number}") for number in range(6)))
    errors: list[BaseException] = []

    def run() -> None:
        try:
            pull("2026.11", "", [repository.as_uri()], (), False, machine, Watch())
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len([*machine.root.glob("v1/*/*/*/*/module.so")]) == 6


def test_a_key_that_is_not_for_the_project_is_refused(
    pushed, get: Get, key: SecretKey, tmp_path: Path
) -> None:
    pushed()
    text = (tmp_path / "trust.toml").read_text(encoding="utf-8")
    (tmp_path / "trust.toml").write_text(text.replace('"*"', '"fictl"'), encoding="utf-8")
    with pytest.raises(FictlError, match="is trusted for fictl, not for mine"):
        get()
