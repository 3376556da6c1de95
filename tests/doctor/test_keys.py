"""Keys as doctor sees them: those that are trusted, and the one that signs."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from fictl.doctor.keys import signing, trusted
from fictl.trust.keys_file import TrustedKey, add
from fictl.trust.secret_key import SecretKey

pytest.importorskip("cryptography")


@pytest.fixture(autouse=True)
def trust(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    path = tmp_path / "trust.toml"
    monkeypatch.setenv("FICTL_TRUST", str(path))
    return path


@pytest.fixture
def secret(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    path = tmp_path / "secret.key"
    path.write_text(SecretKey.generate().text())
    path.chmod(0o600)
    monkeypatch.setenv("FICTL_SIGNING_KEY", str(path))
    return path


def _key(name: str = "ci", expires: date | None = None) -> TrustedKey:
    return TrustedKey(name, SecretKey.generate().public, ("*",), expires)


def test_who_uses_neither_hears_nothing(findings) -> None:
    assert findings(trusted) + findings(signing) == []


def test_trusted_keys_are_named(finding) -> None:
    key = _key()
    add(key)
    assert finding(trusted).text == f"ci ({key.public.id})"


def test_an_expired_key_is_a_warning(finding) -> None:
    add(_key(expires=date(2020, 1, 31)))
    result = finding(trusted)
    assert result.level == "warning"
    assert "has expired on 2020-01-31" in result.text
    assert "fictl trust remove ci" in result.fix


BAD = {
    "no TOML": ("[[key", 0o644, "not valid TOML"),
    "no key": ('[[key]]\nname = "a"\npublic = "x"\n', 0o644, "entry 1 of the trusted keys"),
    "open to others": ("", 0o666, "can be written by others"),
}


@pytest.mark.parametrize(("text", "mode", "reason"), BAD.values(), ids=BAD)
def test_a_file_that_cannot_be_used_is_an_error(
    trust: Path, finding, text: str, mode: int, reason: str
) -> None:
    trust.write_text(text)
    trust.chmod(mode)
    result = finding(trusted)
    assert result.level == "error"
    assert reason in result.text


@pytest.mark.parametrize("expired", [False, True])
def test_a_remote_without_a_key_that_counts_is_a_warning(
    findings, monkeypatch: pytest.MonkeyPatch, expired: bool
) -> None:
    if expired:
        add(_key(expires=date(2020, 1, 31)))
    monkeypatch.setenv("FICTL_REMOTE", "s3://bucket/x")
    result = findings(trusted)[-1]
    assert result.level == "warning"
    assert "no build of a remote is used" in result.text


def test_a_folder_of_ones_own_needs_no_key(findings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FICTL_REMOTE", "file:///tmp/x")
    monkeypatch.setenv("FICTL_REMOTE_MODE", "write")
    assert findings(trusted) + findings(signing) == []


def test_a_signing_key_is_named_by_its_id_alone(secret: Path, finding) -> None:
    result = finding(signing)
    assert result.level == "ok"
    assert secret.read_text().splitlines()[-1] not in result.text


def _missing(path: Path) -> None:
    path.unlink()


def _open(path: Path) -> None:
    path.chmod(0o644)


def _damaged(path: Path) -> None:
    path.write_text("untrusted comment: x\nRWQ=\n")


@pytest.mark.parametrize("spoil", [_missing, _open, _damaged])
def test_a_signing_key_that_cannot_be_used_is_an_error(secret: Path, finding, spoil) -> None:
    spoil(secret)
    assert finding(signing).level == "error"


def test_writing_without_a_key_is_a_warning(finding, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FICTL_REMOTE", "s3://bucket/x")
    monkeypatch.setenv("FICTL_REMOTE_MODE", "write")
    assert "own builds are not sent" in finding(signing).text
