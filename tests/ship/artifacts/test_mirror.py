"""Mirroring: what is copied, what is refused, and that a mirror serves as its source did."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest

from fictl.errors import FictlError, UsageError
from fictl.jit.remote.document import blob_name
from fictl.ship.artifacts.index import INDEX
from fictl.ship.artifacts.mirror import Mirrored, mirror
from fictl.ship.artifacts.pull import pull
from fictl.ship.artifacts.snapshot import module_hash
from fictl.trust.secret_key import SecretKey

from ...servers.static import static_server
from .conftest import NOON, Watch


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "target"


@pytest.fixture
def copy(repository: Path, target: Path, watch: Watch):
    def run(*names: str, source: str = "") -> Mirrored:
        return mirror(source or repository.as_uri(), target.as_uri(), names, watch)

    return run


def _files(folder: Path) -> dict[str, bytes]:
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def test_a_mirror_is_the_same_and_serves(
    pushed, copy, repository: Path, target: Path, machine, watch: Watch
) -> None:
    pushed()
    result = copy()
    assert (len(result.copied), result.files, result.error) == (1, 2, None)
    assert _files(target) == _files(repository)
    assert pull("2026.11", "", [target.as_uri()], (), False, machine, watch).brought == 2


def test_from_a_web_server(pushed, copy, repository: Path, target: Path) -> None:
    pushed()
    with static_server(repository) as url:
        copy(source=url)
    assert _files(target) == _files(repository)


def test_only_what_differs_is_copied(pushed, copy, build, watch: Watch) -> None:
    pushed("a", build(), at=NOON)
    copy()
    again = copy()
    assert (again.copied, len(again.present), again.files, again.size) == ([], 1, 0, 0)
    pushed("b", build(), build("rope.apply"), at=NOON + 1)
    result = copy()
    assert ([entry.name for entry in result.copied], result.files) == (["b"], 1)


def test_what_is_damaged_in_the_mirror_is_copied_again(pushed, copy, build, target: Path) -> None:
    pushed("a", build(), build("rope.apply"))
    copy()
    one, other = sorted((target / "blobs").rglob("?" * 64))
    one.write_bytes(one.read_bytes()[:-1])
    other.write_bytes(b"X" + other.read_bytes()[1:])
    assert copy().files == 2
    assert copy().files == 0


def test_no_key_is_needed_and_it_is_said_that_nobody_checked(
    pushed, copy, key: SecretKey, watch: Watch, tmp_path: Path
) -> None:
    pushed()
    (tmp_path / "trust.toml").unlink()
    assert copy().error is None
    assert any("is not checked here" in note and key.id in note for note in watch.notes)


def test_what_the_index_of_the_source_says_is_not_believed(
    pushed, copy, build, repository: Path, target: Path, machine, watch: Watch
) -> None:
    """Else a hostile mirror would make a snapshot of ours useless in every mirror of it."""
    pushed("a", build(), at=NOON)
    copy()
    data = json.loads((repository / INDEX).read_bytes())
    data["snapshots"][0] |= {"created": "2099-01-01T00:00:00Z", "size": 1}
    (repository / INDEX).write_text(json.dumps(data), encoding="utf-8")
    before = (target / INDEX).read_bytes()
    copy()
    assert (target / INDEX).read_bytes() == before
    assert pull("a", "", [target.as_uri()], (), False, machine, watch).brought == 1


def test_a_damaged_index_is_said_of_a_source_and_made_again_in_a_target(
    pushed, copy, build, repository: Path, target: Path
) -> None:
    pushed("a", build(), at=NOON)
    copy()
    (target / INDEX).write_bytes(b"<html>")
    assert copy().error is None
    assert _files(target) == _files(repository)
    (repository / INDEX).write_bytes(b"<html>")
    with pytest.raises(FictlError, match=r"cannot be listed: snapshots/index\.json"):
        copy()


def test_names_choose(pushed, copy, build) -> None:
    old, other = pushed("a", build(), at=NOON), pushed("b", build("x.y"), at=NOON + 1)
    pushed("a", build("rope.apply"), at=NOON + 2)
    result = copy(f"a@{old.snapshot.sha256}", "b")
    assert {entry.sha256 for entry in result.copied} == {old.snapshot.sha256, other.snapshot.sha256}
    with pytest.raises(UsageError, match="has no snapshot c") as caught:
        copy("c")
    assert caught.value.hint == "it has a, b"


def test_a_missing_and_a_wrong_blob_are_named_and_the_other_snapshots_are_copied(
    pushed, copy, build, repository: Path, target: Path
) -> None:
    good = pushed("good", build("x.y"), at=NOON)
    lacking = pushed("lacking", build("l.k"), at=NOON + 1)
    wrong = pushed("wrong", build("w.g"), at=NOON + 2)
    (repository / blob_name(module_hash(lacking.snapshot.documents[0]))).unlink()
    blob = repository / blob_name(module_hash(wrong.snapshot.documents[0]))
    blob.write_bytes(b"X" * blob.stat().st_size)
    result = copy()
    assert [entry.name for entry in result.copied] == ["good"]
    reasons = {entry.name: reason for entry, reason in result.failed}
    assert "is missing" in reasons["lacking"]
    assert "other bytes" in reasons["wrong"]
    assert result.error is not None
    assert (target / good.snapshot.path).is_file()
    assert not (target / wrong.snapshot.path).exists()
    assert not any((target / "blobs").rglob(blob.name))


def test_what_a_known_key_did_not_sign_is_not_copied(
    pushed, copy, build, repository: Path, target: Path
) -> None:
    one, other = pushed("a", build(), at=NOON), pushed("b", build("x.y"), at=NOON + 1)
    (repository / f"{one.snapshot.path}.minisig").write_text(other.signature, encoding="utf-8")
    result = copy()
    assert [entry.name for entry, _ in result.failed] == ["a"]
    assert "is not one of these bytes" in result.failed[0][1]
    assert not (target / one.snapshot.path).exists()


def test_an_unsigned_one_of_others_does_not_become_ones_own(
    pushed, copy, repository: Path, target: Path, tmp_path: Path
) -> None:
    signed = pushed()
    (repository / f"{signed.snapshot.path}.minisig").unlink()
    (tmp_path / "trust.toml").unlink()
    result = copy()
    assert "it is not signed" in result.failed[0][1]
    assert not (target / signed.snapshot.path).exists()


def test_nothing_is_left_in_the_temporary_folder(
    pushed, copy, build, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    signed = pushed("a", build(), build("rope.apply"))
    (repository / blob_name(module_hash(signed.snapshot.documents[0]))).write_bytes(b"x")
    copy()
    assert not any(scratch.iterdir())


def test_a_folder_of_something_else_is_left_alone(pushed, copy, target: Path) -> None:
    pushed()
    target.mkdir()
    (target / "precious").touch()
    with pytest.raises(UsageError, match="holds something that fictl did not put there"):
        copy()
    assert list(_files(target)) == ["precious"]


def test_a_source_without_snapshots_is_said(copy, repository: Path) -> None:
    with pytest.raises(UsageError, match="has no index of snapshots"):
        copy()
