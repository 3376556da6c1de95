"""Keys and signatures against minisign itself, where it is installed, and against files it wrote."""

from __future__ import annotations

import base64
import hashlib
import shutil
import subprocess
from pathlib import Path

import pytest

from fictl import settings
from fictl.errors import InvalidValue, SetupError, UsageError
from fictl.trust.key import PublicKey, read_public
from fictl.trust.secret_key import SecretKey, _scrypt_cost, read_secret
from fictl.trust.signature import Signature, sign

# Written by minisign 0.11: `-G -W` and `-S -t 'fictl test'` of "hello\n".
PUBLIC = "RWSyw3rWWkr1BrtSFiDiXGaeKaBPRbZYSICE0+26SyhCVaVOLyK2F7Kg"
SECRET = (
    "untrusted comment: minisign encrypted secret key\n"
    "RWQAAEIyAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAssN61lpK9QZZIgt17t1V3L"
    "+EF3VzqLp25jiAjjwENTk+RFee8EYmqrtSFiDiXGaeKaBPRbZYSICE0+26SyhCVaVOLyK2F7KgAAAAAAAAAAAAAAAAAAAA"
    "AAAAAAAAAAAAAAAAAAAAAAA=\n"
)
SIGNATURE = (
    "untrusted comment: signature from minisign secret key\n"
    "RUSyw3rWWkr1BhC5Ye3VWiMKLYalNaX+Y2z47WcohKhmcQr2YkhuCZ04bOUCO1giPGUOrv5hxIAOhbi8nNnrk1b8EIIopbYz9g0=\n"
    "trusted comment: fictl test\n"
    "jt3m0XS4v4p4R1wxJ0fYB9Xmi+43Bfg8xggJqmSh1cqs7N182ruEGx4pDPG+41toV+U7YC89UJcGkqB41/SjAg==\n"
)
MINISIGN = shutil.which("minisign")
needs_minisign = pytest.mark.skipif(not MINISIGN, reason="minisign is not installed")


def test_minisign_s_own_files_are_read() -> None:
    public, secret = PublicKey.parse(PUBLIC), SecretKey.parse(SECRET)
    assert public.id == "06F54A5AD67AC3B2"
    assert secret.public == public
    signature = Signature.parse(SIGNATURE)
    assert signature.comment == "fictl test"
    assert signature.fits(public, b"hello\n")
    assert not signature.fits(public, b"hello!\n")


def test_what_is_written_is_read_again() -> None:
    secret = SecretKey.generate()
    assert SecretKey.parse(secret.text()) == secret
    assert PublicKey.parse(secret.public.text()) == secret.public
    signature = sign(secret, b"data", "a comment")
    again = Signature.parse(signature.text())
    assert again == signature
    assert again.fits(secret.public, b"data")


def test_every_changed_byte_of_a_signature_is_noticed() -> None:
    secret = SecretKey.generate()
    text = sign(secret, b"data", "a comment").text()
    start = text.index("\n") + 1  # The first comment is not signed.
    for at in range(start, len(text) - 1):
        other = text[:at] + ("B" if text[at] != "B" else "C") + text[at + 1 :]
        try:
            assert not Signature.parse(other).fits(secret.public, b"data"), at
        except InvalidValue:
            continue


@pytest.mark.parametrize(
    "text",
    ["", "RUS", "x\n" * 4, SIGNATURE.replace("RUSyw", "RWSyw"), SIGNATURE.replace("RUS", "ÄUS")],
)
def test_no_signature_is_refused_in_words(text: str) -> None:
    with pytest.raises(InvalidValue):
        Signature.parse(text)


def test_the_repr_of_a_secret_key_does_not_show_it() -> None:
    secret = SecretKey.generate()
    assert secret.seed.hex() not in repr(secret)
    assert repr(secret.seed) not in repr(secret)


def test_a_secret_key_that_others_can_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.write_text(SecretKey.generate().text())
    path.chmod(0o644)
    with pytest.raises(SetupError, match="open to others"):
        read_secret(path)


def test_a_damaged_secret_key_is_not_shown(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.write_text("RWQsecret-that-nobody-may-see")
    path.chmod(0o600)
    with pytest.raises(UsageError) as error:
        read_secret(path)
    assert "nobody-may-see" not in str(error.value)


@pytest.mark.parametrize("content", [b"\xff\xfe", b"", b"RWQAA"])
def test_a_file_that_is_not_a_key_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "key"
    path.write_bytes(content)
    path.chmod(0o600)
    for read in (read_public, read_secret):
        with pytest.raises(UsageError):
            read(path)


@needs_minisign
def test_minisign_accepts_a_signature_of_ours(tmp_path: Path) -> None:
    secret = SecretKey.generate()
    (tmp_path / "data").write_bytes(b"some bytes" * 1000)
    text = sign(secret, (tmp_path / "data").read_bytes(), "fictl.build a/b/c/d").text()
    (tmp_path / "data.minisig").write_text(text)
    (tmp_path / "pub").write_text(secret.public.text())
    shown = minisign("-V", "-H", "-p", tmp_path / "pub", "-m", tmp_path / "data")
    assert "fictl.build a/b/c/d" in shown


@needs_minisign
def test_minisign_signs_with_a_key_of_ours(tmp_path: Path) -> None:
    secret = SecretKey.generate()
    (tmp_path / "data").write_bytes(b"other bytes")
    (tmp_path / "secret").write_text(secret.text())
    minisign("-S", "-W", "-s", tmp_path / "secret", "-m", tmp_path / "data", "-t", "ours")
    signature = Signature.parse((tmp_path / "data.minisig").read_text())
    assert signature.fits(secret.public, b"other bytes")
    assert signature.comment == "ours"


def test_a_key_with_a_password_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """minisign's own limits take a gigabyte and seconds: here with smaller ones."""
    secret = SecretKey.generate()
    path = tmp_path / "secret"
    path.write_text(with_password(secret, b"abc"))
    path.chmod(0o600)
    with pytest.raises(UsageError, match="has a password"):
        read_secret(path)
    monkeypatch.setenv(settings.SIGNING_PASSWORD.name, "abc")
    assert read_secret(path) == secret
    monkeypatch.setenv(settings.SIGNING_PASSWORD.name, "abx")
    with pytest.raises(UsageError, match="wrong password"):
        read_secret(path)


def with_password(secret: SecretKey, password: bytes) -> str:
    plain = base64.b64decode(secret.text().splitlines()[1])
    salt, work, memory = bytes(range(32)), 32768, 16 << 20
    stream = hashlib.scrypt(password, salt=salt, n=1024, r=8, p=1, dklen=104)
    body = bytes(one ^ other for one, other in zip(plain[54:], stream, strict=True))
    limits = work.to_bytes(8, "little") + memory.to_bytes(8, "little")
    line = base64.b64encode(b"EdScB2" + salt + limits + body).decode()
    return f"untrusted comment: minisign encrypted secret key\n{line}\n"


def test_minisign_s_own_limits_give_scrypt_s_parameters() -> None:
    assert _scrypt_cost(33554432, 1 << 30) == (1 << 20, 1)
    with pytest.raises(InvalidValue, match="more memory"):
        _scrypt_cost(33554432, 1 << 40)


def minisign(*words: str | Path) -> str:
    assert MINISIGN
    done = subprocess.run([MINISIGN, *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
