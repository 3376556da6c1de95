"""What a judged process may say and do to who asks it: every lie has a name, and none holds it up."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from fictl.judge.process.log import Log
from fictl.judge.process.order_desk import NotBuilt
from fictl.judge.process.sandboxed_process import Ended, Ends, Forged, Hung, SandboxedProcess
from fictl.judge.process.supervisor import GO_ON, STOP

Peer = tuple[SandboxedProcess, socket.socket, socket.socket, int]


@pytest.fixture
def peer() -> Iterator[Peer]:
    """A sandboxed, and the ends that its process and the supervisor of that would have."""
    control, supervisor = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours, theirs = socket.socketpair()
    post, watch, orders = (socket.socketpair() for _ in range(3))
    read, write = os.pipe()
    sandboxed = SandboxedProcess(Ends(control, ours, post[0], watch[0], orders[0]), read, "none")
    yield sandboxed, theirs, supervisor, write
    for each in (theirs, supervisor, post[1], watch[1], orders[1]):
        each.close()
    sandboxed.close()
    os.close(write)


def answering(theirs: socket.socket, answer: Callable[[dict[str, str]], bytes]) -> None:
    def listen() -> None:
        theirs.sendall(answer(json.loads(theirs.recv(1 << 16))))

    threading.Thread(target=listen, daemon=True).start()


def test_an_answer_repeats_the_token_of_its_request(peer: Peer) -> None:
    sandboxed, theirs, _, _ = peer
    answering(theirs, lambda asked: json.dumps({"token": asked["token"], "ok": 1}).encode() + b"\n")
    assert sandboxed.ask({"op": "go"}, 5) == {"ok": 1}


@pytest.mark.parametrize(
    "said",
    [
        b'{"ok": true}\n',
        b'{"token": "0", "ok": true}\n',
        b"[]\n",
        b"nothing\n",
        b"[" * 100_000 + b"\n",
        b"\xff\xfe\n",
        b"1" * 5000 + b"\n",
    ],
    ids=["no-token", "other-token", "list", "no-json", "deep", "no-text", "number"],
)
def test_what_no_honest_process_says_is_a_forgery(peer: Peer, said: bytes) -> None:
    sandboxed, theirs, _, _ = peer
    answering(theirs, lambda _: said)
    with pytest.raises(Forged):
        sandboxed.ask({}, 5)


def test_two_answers_are_a_forgery(peer: Peer) -> None:
    sandboxed, theirs, _, _ = peer
    answering(theirs, lambda asked: (json.dumps({"token": asked["token"]}).encode() + b"\n") * 2)
    with pytest.raises(Forged, match="more than one answer"):
        sandboxed.ask({}, 5)


def test_what_comes_unasked_is_a_forgery(peer: Peer) -> None:
    sandboxed, theirs, _, _ = peer
    theirs.sendall(b'{"ok": true}\n')
    with pytest.raises(Forged, match="before any request"):
        sandboxed.ask({}, 5)


def test_silence_ends_with_the_time(peer: Peer) -> None:
    start = time.monotonic()
    with pytest.raises(Hung):
        peer[0].ask({}, 0.1)
    assert time.monotonic() - start < 30


def test_a_process_that_reads_nothing_holds_nobody_up(peer: Peer) -> None:
    with pytest.raises(Hung):
        peer[0].ask({"sources": "x" * (4 << 20)}, 0.2)


def test_how_a_process_ended_is_told_with_what_it_printed_last(peer: Peer) -> None:
    sandboxed, theirs, supervisor, write = peer
    os.write(write, b"the last words")
    supervisor.send(b'{"kind": "ended", "status": -11}')
    theirs.close()
    with pytest.raises(Ended, match="SIGSEGV"):
        sandboxed.ask({}, 5)
    assert sandboxed.log.take() == "the last words"


def test_a_connection_that_is_closed_is_not_the_end_of_a_process(peer: Peer) -> None:
    sandboxed, theirs, _, _ = peer
    theirs.close()
    with pytest.raises(Ended, match="closed the connection"):
        sandboxed.ask({}, 5)


def test_a_flood_is_read_while_an_answer_is_waited_for(peer: Peer) -> None:
    sandboxed, theirs, _, write = peer

    def flood(asked: dict[str, str]) -> bytes:
        for _ in range(256):
            os.write(write, b"x" * (1 << 16))
        return json.dumps({"token": asked["token"]}).encode() + b"\n"

    answering(theirs, flood)
    sandboxed.ask({}, 20)
    assert len(sandboxed.log.take()) <= 5 << 20


def test_a_log_keeps_its_beginning_and_its_end() -> None:
    log = Log()
    log.add(b"first")
    for _ in range(20):
        log.add(b"." * (1 << 20))
    log.add(b"last")
    text = log.take()
    assert text.startswith("first")
    assert text.endswith("last")
    assert "bytes left out" in text
    assert log.take() == ""


def test_one_that_waits_for_a_build_gets_no_other_request(peer: Peer) -> None:
    """It is being ended: a quick one would otherwise be evaluated without its build."""
    sandboxed, theirs, _, _ = peer
    sandboxed.desk.waits_for = "a build"
    with pytest.raises(NotBuilt) as missing:
        sandboxed.ask({"op": "go"}, 5)
    assert missing.value.key == "a build"
    theirs.setblocking(False)
    with pytest.raises(BlockingIOError):
        theirs.recv(1)


def told(supervisor: socket.socket, kind: str, **more: object) -> None:
    supervisor.send(json.dumps({"kind": kind, **more}).encode())


def test_the_answer_to_an_earlier_stop_is_not_taken_for_the_next_ones(peer: Peer) -> None:
    sandboxed, _, supervisor, _ = peer
    sandboxed.stop_soon()
    sandboxed.go_on()
    told(supervisor, STOP, stopped=True)
    told(supervisor, GO_ON)
    sandboxed.stop_soon()
    told(supervisor, STOP, stopped=False)
    assert not sandboxed.has_stopped()


def test_one_that_ends_while_it_is_stopped_is_told_as_any_other(peer: Peer) -> None:
    sandboxed, theirs, supervisor, _ = peer
    sandboxed.stop_soon()
    told(supervisor, STOP, stopped=True)
    assert sandboxed.has_stopped()
    sandboxed.go_on()
    told(supervisor, GO_ON)
    told(supervisor, "ended", status=-9)
    theirs.close()
    with pytest.raises(Ended, match="SIGKILL"):
        sandboxed.ask({}, 5)


def test_what_has_no_supervisor_does_not_stop(peer: Peer) -> None:
    sandboxed, _, supervisor, _ = peer
    supervisor.close()
    sandboxed.stop_soon()
    assert not sandboxed.has_stopped()


def test_an_answer_is_noticed_without_waiting(peer: Peer) -> None:
    sandboxed, theirs, _, _ = peer
    assert not sandboxed.has_answered()
    theirs.sendall(b'{"ok": true')
    assert not sandboxed.has_answered()
    theirs.sendall(b"}\n")
    assert sandboxed.has_answered()


def test_the_end_of_the_connection_is_an_answer(peer: Peer) -> None:
    sandboxed, theirs, _, _ = peer
    theirs.close()
    assert sandboxed.has_answered()
