"""Messages between a referee and a solution's process, of which one may lie."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator

import pytest

from fictl.judge.exchange.wire import Closed, Garbled, Late, Wire


@pytest.fixture
def pair() -> Iterator[tuple[Wire, socket.socket]]:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    wire = Wire(ours.detach())
    with theirs:
        yield wire, theirs
    wire.close()


def test_a_message_comes_with_its_handles(pair: tuple[Wire, socket.socket]) -> None:
    wire, theirs = pair
    read, write = os.pipe()
    other = Wire(os.dup(theirs.fileno()))
    other.send({"step": "go"}, (write,))
    other.close()
    said, handles = wire.receive()
    os.write(handles[0], b"x")
    assert (said, os.read(read, 1)) == ({"step": "go"}, b"x")
    for handle in (read, write, *handles):
        os.close(handle)


@pytest.mark.parametrize(
    "said", [b"nothing", b"[]", b"[" * 9000, b"\xff", b"1"], ids=["text", "list", "deep", "no", "1"]
)
def test_what_is_no_message_is_told(pair: tuple[Wire, socket.socket], said: bytes) -> None:
    wire, theirs = pair
    theirs.send(said)
    with pytest.raises(Garbled):
        wire.receive()


def test_silence_ends_with_the_time(pair: tuple[Wire, socket.socket]) -> None:
    start = time.perf_counter()
    with pytest.raises(Late):
        pair[0].receive(start + 0.05)
    assert time.perf_counter() - start < 2


def test_the_other_end_may_go(pair: tuple[Wire, socket.socket]) -> None:
    wire, theirs = pair
    theirs.close()
    with pytest.raises(Closed):
        wire.receive()
    with pytest.raises(Closed):
        wire.send({})


def test_what_comes_unasked_is_seen(pair: tuple[Wire, socket.socket]) -> None:
    wire, theirs = pair
    assert wire.is_quiet()
    theirs.send(b"{}")
    assert not wire.is_quiet()


def test_handles_of_what_is_no_message_are_closed(pair: tuple[Wire, socket.socket]) -> None:
    wire, theirs = pair
    read, write = os.pipe()
    socket.send_fds(theirs, [b"nothing"], [write])
    os.close(write)
    with pytest.raises(Garbled):
        wire.receive()
    assert os.read(read, 1) == b""  # Nobody has the other end any more.
    os.close(read)
