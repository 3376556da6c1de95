"""The faults are those that their names promise: a client of the standard library sees them."""

from __future__ import annotations

import http.client
import time
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from .loopback import HOST, Exchange, Response, serving
from .proxy import (
    Endless,
    Proxy,
    around,
    claim,
    cut,
    flip,
    hang,
    proxy_of,
    redirect,
    replace,
    reset,
    shorten,
    status,
    trickle,
)

_BODY = bytes(range(256)) * 4


async def _serve(exchange: Exchange) -> None:
    await exchange.answer(Response(200, {"etag": '"1"'}, exchange.request.body or _BODY))


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    with serving(_serve) as server, proxy_of(server.url) as proxy:
        yield proxy


def _get(proxy: Proxy, path: str = "/it", timeout: float = 30, **more) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection(urlsplit(proxy.url).netloc, timeout=timeout)
    try:
        connection.request(more.pop("method", "GET"), path, **more)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def test_it_forwards_both_ways_and_notes_what_was_asked(proxy):
    assert _get(proxy) == (200, _BODY)
    assert _get(proxy, "/put%20it?x=1", method="PUT", body=b"new") == (200, b"new")
    assert _get(proxy, method="HEAD") == (200, b"")
    assert proxy.requests == ["GET /it", "PUT /put it?x=1", "HEAD /it"]
    assert proxy.count("^(GET|HEAD) ") == 2


def test_a_connection_serves_several_requests(proxy):
    connection = http.client.HTTPConnection(urlsplit(proxy.url).netloc)
    for _ in range(3):
        connection.request("GET", "/it")
        assert connection.getresponse().read() == _BODY
    connection.close()


@pytest.mark.parametrize(
    ("fault", "seen"),
    [
        (status(500), (500, b"")),
        (status(403, b"no"), (403, b"no")),
        (redirect("http://elsewhere/"), (302, b"")),
        (flip(), (200, _BODY[:-1] + b"\xfe")),
        (shorten(5), (200, _BODY[:5])),
        (replace(bytes.upper), (200, _BODY.upper())),
        (around(), (200, _BODY)),
    ],
)
def test_answers_are_spoiled_as_told(proxy, fault, seen):
    proxy.fail(fault)
    assert _get(proxy) == seen


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (reset, ConnectionError),
        (cut(100), (ConnectionError, http.client.IncompleteRead)),
        (hang, TimeoutError),
        (claim(10**10), TimeoutError),
    ],
)
def test_answers_end_as_told(proxy, fault, error):
    proxy.fail(fault)
    with pytest.raises(error):
        _get(proxy, timeout=0.2)


def test_a_trickle_is_slow_and_never_silent(proxy):
    proxy.fail(trickle(0.001))
    began = time.monotonic()
    assert _get(proxy, timeout=0.5) == (200, _BODY)
    assert time.monotonic() - began >= 0.001 * len(_BODY)


def test_an_endless_body_ends_with_its_client(proxy):
    endless = Endless()
    proxy.fail(endless)
    connection = http.client.HTTPConnection(urlsplit(proxy.url).netloc)
    connection.request("GET", "/it")
    assert len(connection.getresponse().read(1 << 20)) == 1 << 20
    connection.close()
    assert endless.sent >= 1 << 20


def test_a_fault_hits_what_matches_after_so_many_and_so_often(proxy):
    proxy.fail(status(500), "^GET /spoiled", skip=1, times=2)
    paths = ["/spoiled", "/good", "/spoiled", "/spoiled", "/spoiled"]
    assert [_get(proxy, path)[0] for path in paths] == [200, 200, 500, 500, 200]
    proxy.fail(status(403))
    proxy.heal()
    assert _get(proxy)[0] == 200


def test_it_is_as_slow_as_told(proxy):
    proxy.latency = 0.1
    began = time.monotonic()
    _get(proxy)
    assert time.monotonic() - began >= 0.1


def test_stopped_it_ends_those_who_wait():
    with serving(_serve) as server:
        proxy = Proxy(server.url)
        proxy.fail(hang)
        host, port = HOST, urlsplit(proxy.url).port
        connection = http.client.HTTPConnection(host, port, timeout=30)
        connection.request("GET", "/it")
        proxy.stop()
        with pytest.raises((ConnectionError, http.client.RemoteDisconnected)):
            connection.getresponse()
        connection.close()
        with pytest.raises(ConnectionRefusedError):
            http.client.HTTPConnection(host, port).connect()
