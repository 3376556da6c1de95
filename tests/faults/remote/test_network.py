"""A remote that is down, slow, or refuses: one warning, and the build is made here."""

from __future__ import annotations

import os
import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from fictl.paths import cache_root

from ...servers.loopback import HOST, Exchange, serving
from ...servers.proxy import (
    Endless,
    claim,
    cut,
    flip,
    hang,
    redirect,
    replace,
    reset,
    status,
    trickle,
)

_LIST = r"^GET .*list-type"


@contextmanager
def refusing() -> Iterator[str]:
    """An address where nothing listens, and nobody else can begin to."""
    with socket.socket() as taken:
        taken.bind((HOST, 0))
        yield f"http://{HOST}:{taken.getsockname()[1]}"


@contextmanager
def silent() -> Iterator[str]:
    """An address that takes connections, and never answers."""
    with socket.create_server((HOST, 0)) as server:
        yield f"http://{HOST}:{server.getsockname()[1]}"


def warnings(text: str) -> list[str]:
    return [line for line in text.splitlines() if "warning" in line.lower() or "remote" in line]


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (hang, "in time"),
        (reset, "connection"),
        (status(500), "500"),
        (status(503), "503"),
        (status(403), "credentials"),
        (status(401), "credentials"),
        (redirect("http://127.0.0.1:1/"), "listens"),
        (redirect("/again"), "remote"),
        (cut(30), "connection"),
        (claim(10**10), "in time"),
        (trickle(0.2), "in time"),
        (Endless(), "remote"),
        (Endless(10**10), "remote"),
        (replace(lambda _: b"<ListBucketResult>"), "remote"),
        (replace(lambda _: b"\xff\xfe"), "remote"),
    ],
    ids=[
        *("hangs", "resets", "500", "503", "403", "401", "redirected to nothing", "redirected"),
        *("is cut", "claims 10 GB", "trickles", "never ends", "never ends 10 GB", "half an answer"),
        "no text",
    ],
)
def test_a_remote_that_fails_is_said_once_and_the_build_is_made_here(
    filled, pulled, project, fictl_, fault, reason
):
    filled.proxy.fail(fault, _LIST)
    began = time.monotonic()
    answer = fictl_("build", "twice", FICTL_REMOTE_TIMEOUT="1")
    assert answer.code == 0
    assert time.monotonic() - began < 15
    assert answer.err.count(filled.url) == 1, answer.err
    assert reason in answer.err
    assert pulled() is None
    assert len(project.entries) == 1
    _others_ask_nothing(filled, project, fictl_)


def _others_ask_nothing(remote, project, fictl_) -> None:
    remote.proxy.forget()
    project.multiply_by(5)
    answer = fictl_("build", "twice")
    assert (answer.code, remote.proxy.requests) == (0, [])
    assert remote.url not in answer.err


@pytest.mark.parametrize("place", [refusing, silent])
def test_an_address_without_a_server_is_said_once(filled, fictl_, pulled, place):
    with place() as url:
        answer = fictl_("build", "twice", AWS_ENDPOINT_URL=url, FICTL_REMOTE_TIMEOUT="1")
    assert answer.code == 0
    assert answer.err.count(filled.url) == 1, answer.err
    assert pulled() is None


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"AWS_SECRET_ACCESS_KEY": "another"}, "credentials"),
        ({"AWS_ACCESS_KEY_ID": "nobody"}, "credentials"),
        ({"FICTL_REMOTE": "s3://nothing-here/at-all"}, "s3://nothing-here/at-all"),
    ],
)
def test_a_real_server_that_refuses_is_understood(filled, fictl_, pulled, changes, reason):
    answer = fictl_("build", "twice", **changes)
    assert answer.code == 0
    assert reason in answer.err or changes.get("FICTL_REMOTE")
    assert pulled() is None


def test_a_certificate_that_nobody_vouches_for_is_refused(filled, fictl_, pulled, tmp_path):
    async def never(exchange: Exchange) -> None:
        raise AssertionError("a request reached a server that proved nothing")

    with serving(never, tls=_self_signed(tmp_path)) as server:
        answer = fictl_("build", "twice", AWS_ENDPOINT_URL=server.url)
    assert answer.code == 0
    assert "certificate" in answer.err
    assert pulled() is None


def test_a_dead_remote_is_asked_again_a_minute_later(filled, fictl_, pulled, tmp_path):
    filled.proxy.fail(status(500), times=1)
    assert fictl_("build", "twice").code == 0
    assert pulled() is None
    _age(cache_root(), seconds=61)
    filled.proxy.forget()
    assert fictl_("build", "twice", FICTL_CUDA_ARCH_LIST="9.0").code == 0
    assert filled.proxy.count(_LIST) == 1


def test_what_a_remote_lacks_is_not_asked_for_again_within_a_minute(s3, keys, project, fictl_):
    for asks in (1, 0):
        s3.proxy.forget()
        assert fictl_("build", "twice").code == 0
        assert s3.proxy.count(_LIST) == asks
        project.folder.rename(project.folder.with_name(f"built {asks}"))
    _age(cache_root(), seconds=61)
    assert fictl_("build", "twice").code == 0
    assert s3.proxy.count(_LIST) == 1


def test_what_a_remote_lacks_of_one_recipe_says_nothing_of_another(filled, project, fictl_, pulled):
    project.multiply_by(3)
    assert fictl_("build", "twice").code == 0
    assert pulled() is None
    project.multiply_by(2)
    assert fictl_("build", "twice").code == 0
    assert sorted(bool(entry.manifest.origin) for entry in project.entries) == [False, True]


def test_one_dead_remote_does_not_hide_the_next(filled, folder, fictl_, pulled):
    with refusing() as url:
        answer = fictl_(*("build", "twice"), FICTL_REMOTE=f"http://{url[7:]}/nothing {filled.url}")
    assert answer.code == 0
    assert pulled().manifest.origin["url"] == filled.url


def test_a_blob_that_breaks_off_is_fetched_again(filled, fictl_, pulled):
    filled.proxy.fail(cut(100), "blobs/", times=1)
    assert fictl_("build", "twice").code == 0
    assert pulled()


@pytest.mark.parametrize(
    "fault", [hang, reset, status(500), cut(100), claim(10**10), trickle(0.2), flip()]
)
def test_a_blob_that_never_comes_is_a_miss(filled, fictl_, pulled, project, fault):
    filled.proxy.fail(fault, "GET .*blobs/")
    began = time.monotonic()
    answer = fictl_("build", "twice", FICTL_REMOTE_TIMEOUT="1")
    assert time.monotonic() - began < 40
    assert answer.code == 0
    assert filled.url in answer.err
    assert pulled() is None
    assert project.staging == []


def test_where_nothing_may_compile_the_remote_serves(filled, fictl_, pulled):
    assert fictl_("build", "twice", FICTL_DISABLE_JIT="1").code == 0
    assert pulled()


def test_where_nothing_may_compile_the_error_says_what_was_asked_and_why_not(filled, fictl_):
    filled.proxy.fail(status(403))
    answer = fictl_("build", "twice", FICTL_DISABLE_JIT="1")
    assert answer.code == 3
    for part in ("elementwise.twice", "recipe ", filled.url, "credentials", "fictl build twice"):
        assert part in answer.err


def test_switched_off_nothing_is_asked(filled, fictl_, pulled):
    for switch in ({"FICTL_REMOTE_MODE": "off"}, {"FICTL_NO_DOWNLOAD": "1"}):
        assert fictl_("build", "twice", **switch).code == 0
    assert filled.proxy.requests == []
    assert pulled() is None


def test_a_remote_that_cannot_be_written_costs_a_warning(s3, keys, project, fictl_):
    s3.proxy.fail(status(403), "^PUT ")
    answer = fictl_("build", "twice", FICTL_REMOTE_MODE="write")
    assert answer.code == 0
    assert answer.err.count(s3.url) == 1
    assert "credentials" in answer.err
    assert len(project.entries) == 1
    assert s3.names == []


def test_a_remote_that_hangs_does_not_hold_the_end_of_a_build(s3, keys, project, fictl_):
    s3.proxy.fail(hang, "^PUT ")
    began = time.monotonic()
    answer = fictl_("build", "twice", FICTL_REMOTE_MODE="write", FICTL_REMOTE_TIMEOUT="1")
    assert answer.code == 0
    assert time.monotonic() - began < 20
    assert s3.url in answer.err


def _age(root: Path, seconds: float) -> None:
    """Make what is remembered of remotes older, by its files' times."""
    notes = [path for path in (root / "v1" / ".remote").rglob("*") if path.is_file()]
    assert notes
    for path in notes:
        old = path.stat().st_mtime - seconds
        os.utime(path, (old, old))


def _self_signed(folder: Path) -> ssl.SSLContext:
    """A certificate of its own maker alone."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(timezone.utc)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    pem = folder / "self-signed.pem"
    pem.write_bytes(
        certificate.public_bytes(serialization.Encoding.PEM)
        + key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    return context
