"""Remotes as doctor sees them: real servers on loopback, which answer, refuse, hang or lie."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from email.utils import formatdate
from pathlib import Path

import pytest

from fictl.doctor.remote import clock, proxy, remote
from fictl.jit.remote import breaker
from fictl.jit.remote.breaker import Breaker
from fictl.jit.remote.bucket import RemoteFailed
from fictl.jit.remote.mark import MARK

from ..servers.loopback import Exchange, Response, Server, serving


@pytest.fixture(autouse=True)
def _nothing_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(breaker, "_down", {})
    for name in (
        "http_proxy",
        "HTTP_PROXY",
        "https_proxy",
        "HTTPS_PROXY",
        "all_proxy",
        "ALL_PROXY",
    ):
        monkeypatch.delenv(name, raising=False)


class Site:
    """How the server answers: a status, the time it shows, or never."""

    status, ahead, hangs = 200, 0.0, False

    async def answer(self, exchange: Exchange) -> None:
        if self.hangs:
            await exchange.closed()
            return
        date = formatdate(time.time() + self.ahead, usegmt=True)
        await exchange.answer(
            Response(self.status, {"date": date}, b'{"schema": "fictl.remote/1"}')
        )


@pytest.fixture
def site() -> Site:
    return Site()


@pytest.fixture
def server(site: Site, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    pytest.importorskip("obstore")
    with serving(site.answer) as server:
        monkeypatch.setenv("FICTL_REMOTE", f"{server.url}/builds")
        monkeypatch.setenv("FICTL_REMOTE_TIMEOUT", "1")
        yield server


CHECKS = [remote, clock, proxy]


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("name", ["", "FICTL_NO_DOWNLOAD", "FICTL_REMOTE_MODE"])
def test_without_a_remote_or_where_it_is_forbidden_there_is_no_request(
    findings, monkeypatch: pytest.MonkeyPatch, check, name: str
) -> None:
    if name:
        monkeypatch.setenv("FICTL_REMOTE", "https://127.0.0.1:1/x s3://nobody/x")
        monkeypatch.setenv(name, "off" if name == "FICTL_REMOTE_MODE" else "1")
    monkeypatch.setattr(socket.socket, "connect", lambda *_: pytest.fail("connected"))
    monkeypatch.setattr("fictl.doctor.remote.Remote.at", lambda url: pytest.fail("opened"))
    results = findings(check, environ={"HTTPS_PROXY": "http://proxy:1"})
    assert {result.level for result in results} <= {"ok"}
    asked = name and check is remote
    assert len(results) == (2 if asked else 0)
    assert all(name in result.text for result in results)


def test_one_that_answers_says_so_with_its_mode(server: Server, finding) -> None:
    result = finding(remote)
    assert (result.level, result.text) == ("ok", f"{server.url}/builds (read) answers")


def test_one_without_builds_is_a_warning(server: Server, site: Site, finding) -> None:
    site.status = 404
    assert "answers, and holds no builds of fictl" in finding(remote).text


@pytest.mark.parametrize("status", [403, 500])
def test_one_that_refuses_is_a_warning_with_its_reason(
    server: Server, site: Site, finding, status: int
) -> None:
    site.status = status
    result = finding(remote)
    assert result.level == "warning"
    assert "cannot be used" in result.text


def test_one_that_does_not_listen_is_an_error_where_nothing_can_compile(
    server: Server, finding, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        monkeypatch.setenv("FICTL_REMOTE", f"http://127.0.0.1:{free.getsockname()[1]}/x")
    assert finding(remote).level == "warning"
    monkeypatch.setenv("FICTL_DISABLE_JIT", "1")
    result = finding(remote)
    assert result.level == "error"
    assert "cannot be used" in result.text


def test_one_that_hangs_costs_its_time_limit(server: Server, site: Site, findings) -> None:
    site.hangs = True
    start = time.monotonic()
    (result,) = findings(remote)
    assert findings(clock) == []
    assert time.monotonic() - start < 8
    assert result.level == "warning"


def test_one_that_was_turned_off_a_moment_ago_says_so(server: Server, finding) -> None:
    url = f"{server.url}/builds"
    Breaker.of(url).trip(RemoteFailed(url, "it did not answer in time"))
    result = finding(remote)
    assert result.level == "warning"
    assert "not asked for a minute, since it did not answer in time" in result.text


def test_a_folder_needs_no_network_and_is_read_without_downloads_too(
    finding, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / MARK).write_text("{}")
    monkeypatch.setenv("FICTL_REMOTE", f"file://{tmp_path}")
    monkeypatch.setenv("FICTL_NO_DOWNLOAD", "1")
    assert finding(remote).text == f"file://{tmp_path} (read) answers"


@pytest.mark.parametrize(
    ("ahead", "text"),
    [(-7200.0, "this machine is 2 h ahead of 127.0.0.1, more than"), (300.0, "5 m behind")],
)
def test_a_clock_that_differs_is_told(
    server: Server, site: Site, finding, ahead: float, text: str
) -> None:
    site.ahead = ahead
    result = finding(clock)
    assert result.level == "warning"
    assert text in result.text


@pytest.mark.parametrize("status", [200, 403, 404])
def test_a_clock_that_agrees_has_nothing_to_say(
    server: Server, site: Site, findings, status: int
) -> None:
    site.status, site.ahead = status, 5.0
    assert findings(clock) == []


def test_the_clock_of_object_storage_is_that_of_its_endpoint(
    server: Server, site: Site, finding, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.ahead = 7200.0
    monkeypatch.setenv("FICTL_REMOTE", "s3://bucket/prefix")
    assert "behind 127.0.0.1" in finding(clock, environ={"AWS_ENDPOINT_URL": server.url}).text


def test_a_file_is_no_endpoint(finding, monkeypatch: pytest.MonkeyPatch) -> None:
    from fictl.doctor.remote import _server

    environ = {"AWS_ENDPOINT_URL": "file:///etc/passwd"}
    assert _server("s3://bucket/x", environ) == "https://s3.amazonaws.com"


def test_a_proxy_is_named_without_its_password(server: Server, finding) -> None:
    result = finding(proxy, environ={"https_proxy": "http://me:secret@proxy:3128"})
    assert result.level == "ok"
    assert "secret" not in result.text
    assert "proxy:3128" in result.text


def test_a_proxy_that_is_none_is_a_warning(server: Server, finding) -> None:
    result = finding(proxy, environ={"HTTP_PROXY": "ftp://x"})
    assert result.level == "warning"
    assert "is not the URL of a proxy" in result.text
