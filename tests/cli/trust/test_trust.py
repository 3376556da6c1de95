"""fictl trust: a pair of keys, and the list of those that count."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def config(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "config" / "fictl"


def test_a_new_key_is_for_its_owner_alone(fictl, config: Path) -> None:
    answer = fictl("trust", "new-key", "--json")
    data = answer.document["data"]
    assert Path(data["secret"]) == config / "signing.key"
    assert stat.S_IMODE((config / "signing.key").stat().st_mode) == 0o600
    assert data["public"] in (config / "signing.key.pub").read_text()
    secret = (config / "signing.key").read_text().splitlines()[1]
    assert secret not in answer.out + answer.err


def test_a_key_that_exists_is_never_replaced(fictl, config: Path) -> None:
    fictl("trust", "new-key")
    before = (config / "signing.key").read_bytes()
    answer = fictl("trust", "new-key")
    assert answer.code == 2
    assert "exists" in answer.err
    assert (config / "signing.key").read_bytes() == before


def test_a_dry_run_writes_nothing(fictl, config: Path, tmp_path: Path) -> None:
    assert fictl("trust", "new-key", "--dry-run").code == 0
    assert not config.exists()
    fictl("trust", "new-key", str(tmp_path / "k"))
    assert fictl("trust", "add", "ci", str(tmp_path / "k.pub"), "--dry-run").code == 0
    assert fictl("trust", "list", "--json").document["data"]["keys"] == []


def test_keys_are_added_listed_and_removed(fictl, tmp_path: Path) -> None:
    pair = fictl("trust", "new-key", str(tmp_path / "k"), "--json").document["data"]
    words = (
        "ci",
        pair["public"],
        "--project",
        "fictl",
        "--project",
        "my_*",
        "--expires",
        "2027-12-31",
    )
    added = fictl("trust", "add", *words, "--json").document["data"]
    assert (added["added"], added["key_id"]) == (True, pair["key_id"])
    assert not fictl("trust", "add", *words, "--json").document["data"]["added"]
    (listed,) = fictl("trust", "list", "--json").document["data"]["keys"]
    assert listed == {
        "name": "ci",
        "key_id": pair["key_id"],
        "public": pair["public"],
        "projects": ["fictl", "my_*"],
        "expires": "2027-12-31",
    }
    assert pair["key_id"] in fictl("trust", "list").out
    assert fictl("trust", "remove", "ci").code == 0
    assert "names no key" in fictl("trust", "list").out


@pytest.mark.parametrize(
    "words",
    [
        ("add", "ci", "RWQnonsense"),
        ("add", "../ci", "{public}"),
        ("add", "ci", "{public}", "--project", "a b"),
        ("add", "ci", "{public}", "--expires", "tomorrow"),
        ("remove", "nobody"),
        ("new-key", "/proc/key"),
    ],
)
def test_nonsense_is_refused_in_words(fictl, tmp_path: Path, words: tuple[str, ...]) -> None:
    public = fictl("trust", "new-key", str(tmp_path / "k"), "--json").document["data"]["public"]
    answer = fictl("trust", *(word.format(public=public) for word in words))
    assert answer.code in (2, 3)
    assert "Traceback" not in answer.err
    assert "internal error" not in answer.err


def test_a_secret_key_given_as_a_public_one_is_not_shown(fictl, tmp_path: Path) -> None:
    fictl("trust", "new-key", str(tmp_path / "k"))
    secret = (tmp_path / "k").read_text().splitlines()[1]
    for given in (str(tmp_path / "k"), secret):
        answer = fictl("trust", "add", "ci", given)
        assert answer.code == 2
        assert secret[60:80] not in answer.err
        assert secret[:40] not in answer.err
