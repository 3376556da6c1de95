"""Who vouches for a snapshot: every way in which a signature can be wrong."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from fictl.jit.remote.bucket import BadAnswer, NotThere
from fictl.jit.remote.url import open_bucket
from fictl.ship.artifacts.names import path_of
from fictl.ship.artifacts.signed import Signed, Untrusted, read_signed, write_signed
from fictl.ship.artifacts.snapshot import make_snapshot
from fictl.trust import keys_file
from fictl.trust.keys_file import TrustedKey
from fictl.trust.secret_key import SecretKey

from .conftest import NOON


@pytest.fixture
def signed(build, key: SecretKey) -> Signed:
    return Signed(make_snapshot("2026.11", [build()[0]], NOON)).signed_with(key)


@pytest.fixture
def other(build, key: SecretKey) -> Signed:
    """Another snapshot of the same name, with the same key."""
    return Signed(make_snapshot("2026.11", [build(content=b"other")[0]], NOON)).signed_with(key)


def test_a_trusted_key_is_named(signed: Signed) -> None:
    assert signed.require_trusted("there").text == "signed by ci"


def test_a_signature_of_another_snapshot_is_refused(signed: Signed, other: Signed) -> None:
    with pytest.raises(Untrusted, match="is not one of these bytes"):
        replace(signed, signature=other.signature).require_trusted("there")


def test_a_snapshot_cannot_take_another_name(signed: Signed, build, key: SecretKey) -> None:
    from fictl.trust.signature import sign

    moved = sign(key, signed.snapshot.data, "fictl.snapshot other").text()
    with pytest.raises(Untrusted, match="is moved"):
        replace(signed, signature=moved).require_trusted("there")


def test_changed_bytes_are_refused(signed: Signed, build) -> None:
    changed = make_snapshot("2026.11", [build(archs=("8.0",))[0]], NOON)
    with pytest.raises(Untrusted, match="is not one of these bytes"):
        replace(signed, snapshot=changed).require_trusted("there")


def test_an_unknown_key_is_named_by_its_id(signed: Signed) -> None:
    stranger = SecretKey.generate()
    with pytest.raises(Untrusted, match=stranger.id) as caught:
        signed.signed_with(stranger).require_trusted("there")
    assert "fictl trust add" in caught.value.hint


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        ({"expires": date(2020, 1, 1)}, "has expired on 2020-01-01"),
        ({"projects": ("fictl",)}, "is trusted for fictl, not for mine"),
    ],
)
def test_a_key_counts_until_its_day_and_for_its_projects(
    signed: Signed, facts: dict, why: str
) -> None:
    second = SecretKey.generate()
    keys_file.add(TrustedKey("second", second.public, **facts))
    with pytest.raises(Untrusted, match=why):
        signed.signed_with(second).require_trusted("there")


@pytest.mark.parametrize("text", ["x", "\n\n\n\n", "untrusted comment: x\nAAAA\n", "\0" * 1000])
def test_what_is_no_signature_is_refused(signed: Signed, text: str) -> None:
    for own in (False, True):
        with pytest.raises(Untrusted, match="its signature cannot be read"):
            replace(signed, signature=text, own=own).require_trusted("there")


def test_an_unsigned_one_of_others_is_refused(signed: Signed) -> None:
    with pytest.raises(Untrusted, match="it is not signed"):
        replace(signed, signature="").require_trusted("there")


def test_an_unsigned_one_of_ones_own_is_good_only_while_nobody_is_trusted_to_sign(
    signed: Signed, tmp_path: Path
) -> None:
    """Else whoever removes a signature from a disk that is then mounted would be believed."""
    mine = replace(signed, signature="", own=True)
    with pytest.raises(Untrusted, match="not signed, and ci is trusted to do that"):
        mine.require_trusted("there")
    (tmp_path / "trust.toml").unlink()
    assert "only you" in mine.require_trusted("there").text


def test_what_fictl_put_where_only_it_writes_needs_no_trusted_key(signed: Signed) -> None:
    """It was built here, or believed when it was pulled; other faults still count."""
    home = replace(signed, at_home=True)
    assert "you put it here" in replace(home, signature="").require_trusted("there").text
    stranger = home.signed_with(SecretKey.generate())
    assert "you put it here" in stranger.require_trusted("there").text
    with pytest.raises(Untrusted, match="cannot be read"):
        replace(home, signature="x").require_trusted("there")


def test_it_is_written_and_read_with_its_signature(signed: Signed, repository: Path) -> None:
    bucket = open_bucket(repository.as_uri())
    write_signed(bucket, signed)
    assert read_signed(bucket, signed.snapshot.path) == signed


def test_another_snapshot_under_its_name_is_refused(
    signed: Signed, other: Signed, repository: Path
) -> None:
    bucket = open_bucket(repository.as_uri())
    bucket.write(signed.snapshot.path, other.snapshot.data)
    with pytest.raises(BadAnswer, match="holds another snapshot"):
        read_signed(bucket, signed.snapshot.path)
    renamed = path_of("renamed", signed.snapshot.sha256)
    bucket.write(renamed, signed.snapshot.data)
    with pytest.raises(BadAnswer, match="holds another snapshot"):
        read_signed(bucket, renamed)


def test_a_truncated_one_and_a_missing_one(signed: Signed, repository: Path) -> None:
    bucket = open_bucket(repository.as_uri())
    with pytest.raises(NotThere):
        read_signed(bucket, signed.snapshot.path)
    bucket.write(signed.snapshot.path, signed.snapshot.data[:-10])
    with pytest.raises(BadAnswer, match="it is not a snapshot"):
        read_signed(bucket, signed.snapshot.path)


def test_the_signature_is_there_before_the_snapshot(signed: Signed) -> None:
    order: list[str] = []
    bucket = type("Recording", (), {"write": lambda self, name, data: order.append(name)})()
    write_signed(bucket, signed)
    assert order == [f"{signed.snapshot.path}.minisig", signed.snapshot.path]
