"""The driver's end of a worker that misbehaves."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from fictl.child.lost import Lost
from fictl.child.message import of_kind, to_line
from fictl.farm.blobs import BlobStore, blob_of
from fictl.farm.connection import Connection, Preempted
from fictl.farm.line import (
    PROTOCOL,
    Blob,
    EvaluateWorkload,
    Greeting,
    Held,
    HoldGpu,
    Ready,
    greeting_in,
    ready_in,
)
from fictl.farm.place import Place
from fictl.version import VERSION

from .scripts import script

_WORKER = f"""
import base64, hashlib, json, os, sys, time
def send(**message): os.write(1, json.dumps(message).encode() + b"\\n")
def line(): return json.loads(sys.stdin.readline())
line()
send(kind="Ready", protocol={PROTOCOL}, fictl={VERSION!r}, python="3", hardware="x")
number = line()["number"]
"""
_HEARTBEAT = 2 / 3


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., object]:
    """Ask a worker that answers with this code."""
    monkeypatch.setattr("fictl.farm.connection.HEARTBEAT_SECONDS", _HEARTBEAT)
    (tmp_path / "blobs").mkdir()

    def run(code: str, seconds: float = 30, **more: object) -> object:
        connection = Connection(Place("p", python=script(tmp_path, _WORKER + code)))
        try:
            connection.greet(Greeting("cpu"))
            store = BlobStore(tmp_path / "blobs")
            return connection.ask(HoldGpu(), seconds, into=store, **more)  # type: ignore[arg-type]
        finally:
            connection.end()

    return run


def test_heartbeats_keep_a_slow_worker(ask) -> None:
    code = "for _ in range(4):\n    time.sleep(0.8)\n    send(kind='Heartbeat')\nsend(kind='Held', number=number)"
    assert isinstance(ask(code), Held)


def test_a_long_line_that_comes_slowly_is_not_silence(ask) -> None:
    parts = '{"kind": "Held", ', '"number": ', "1}", "\n"
    code = f"for part in {parts!r}:\n    os.write(1, part.encode())\n    time.sleep(0.8)"
    assert isinstance(ask(code), Held)


def test_half_a_line_is_silence_in_the_end(ask) -> None:
    with pytest.raises(Lost, match="was silent for 2 s"):
        ask("os.write(1, b'{')\ntime.sleep(100)")


@pytest.mark.parametrize("answered", [0, 2, -1])
def test_the_answer_to_another_request_is_none(ask, answered: int) -> None:
    with pytest.raises(Lost, match=f"it is one to request {answered}, not 1"):
        ask(f"send(kind='Held', number={answered})")


def test_an_answer_that_comes_twice_is_not_that_of_the_next_request(tmp_path: Path) -> None:
    twice = "for _ in range(2):\n    send(kind='Held', number=number)\nline()"
    connection = Connection(Place("p", python=script(tmp_path, _WORKER + twice)))
    try:
        connection.greet(Greeting("cpu"))
        assert isinstance(connection.ask(HoldGpu(), 30), Held)
        with pytest.raises(Lost, match="it is one to request 1, not 2"):
            connection.ask(HoldGpu(), 30)
        assert connection.has_ended
    finally:
        connection.end()


def test_a_silent_worker_is_lost_and_a_late_one_too(ask) -> None:
    start = time.monotonic()
    with pytest.raises(Lost, match="was silent for 2 s"):
        ask("time.sleep(100)")
    assert time.monotonic() - start < 20
    with pytest.raises(Lost, match="did not answer within 1 s"):
        ask("while True:\n    time.sleep(0.1)\n    send(kind='Heartbeat')", 1)


def test_a_worker_that_leaves_in_the_middle_of_a_line_is_no_loss(ask) -> None:
    with pytest.raises(Preempted):
        ask("os.write(1, b'{\"kind\": \"Hel')\nos.write(1, b'\\n')\nsend(kind='Leaving')")


def test_a_line_without_end_is_refused(ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fictl.child.lines.LONGEST", 1 << 20)
    with pytest.raises(Lost, match="a line of more than"):
        ask("while True: os.write(1, b'x' * 100_000)")


def test_a_place_that_reads_nothing_is_lost(
    ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fictl.child.local_process._STALL_SECONDS", 1.0)
    large = tmp_path / "large"
    large.write_bytes(bytes(4 << 20))
    blob = blob_of(large)
    wanted = f"send(kind='Wanted', blobs=[{{'sha256': {blob.sha256!r}, 'size': {blob.size}}}])\n"
    with pytest.raises(Lost, match="has read nothing for 1 s"):
        ask(wanted + "time.sleep(100)", files={blob.sha256: large})


def test_a_place_that_asks_for_files_for_ever_is_late(ask, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(bytes(1000))
    blob = blob_of(file)
    wanted = f"send(kind='Wanted', blobs=[{{'sha256': {blob.sha256!r}, 'size': {blob.size}}}])"
    with pytest.raises(Lost, match="did not answer within 1 s"):
        ask(f"while True:\n    {wanted}\n    line()", 1, files={blob.sha256: file})


@pytest.mark.parametrize(
    "code",
    [
        "send(kind='Evil')",
        "send(kind='Frame', sha256='0' * 64, data='eA==')",
        "os.write(1, b'[' * 100_000 + b'\\n')",
        "send(kind='Coming', blob={'sha256': '0' * 64, 'size': -1})",
        "send(kind='Held', more=1)",
        "os.write(1, b'[]\\n')",
        "send(kind='Coming', blob={'sha256': '0' * 64, 'size': 1 << 40})",
        "send(kind='Coming', blob={'sha256': '../x', 'size': 1})",
        "send(kind='Coming', blob={'sha256': '0' * 64, 'size': 1})\nsend(kind='Held')",
        "send(kind='Coming', blob={'sha256': '0' * 64, 'size': 1})\n"
        "send(kind='Frame', sha256='0' * 64, data='eA==')",
    ],
)
def test_what_is_not_of_the_protocol_is_refused(ask, tmp_path: Path, code: str) -> None:
    with pytest.raises(Lost, match="its answer cannot be read"):
        ask(code + "\ntime.sleep(5)")
    assert [*(tmp_path / "blobs").iterdir()] == []


def test_only_offered_files_are_sent(ask, tmp_path: Path) -> None:
    """A place may ask for any hash; it gets the files of the request, and no other."""
    secret = tmp_path / "secret"
    secret.write_text("secret")
    blob = blob_of(secret)
    wanted = f"send(kind='Wanted', blobs=[{{'sha256': {blob.sha256!r}, 'size': 6}}])\n"
    answer = "got = line()\nsend(kind='NotDone', message=got['kind'], hint='', code=1, number=1)"
    assert ask(wanted + answer).message == "Absent"
    assert ask(wanted + answer, files={blob.sha256: secret}).message == "Frame"


def test_a_file_that_has_gone_is_said_to_be_absent(ask, tmp_path: Path) -> None:
    wanted = f"send(kind='Wanted', blobs=[{{'sha256': {'a' * 64!r}, 'size': 6}}])\n"
    answer = "why = line()['why']\nsend(kind='NotDone', message=why, hint='', code=1, number=1)"
    asked = ask(wanted + answer, files={"a" * 64: tmp_path / "gone"})
    assert asked.message == "No such file or directory"


def test_versions_of_the_protocol_know_each_other() -> None:
    other = ready_in('{"kind": "Ready", "protocol": 99, "fictl": "9.9", "python": "3", "new": 1}')
    assert other == Ready(99, "9.9", "3", "")
    assert ready_in("welcome") is None
    assert ready_in(f'{{"kind": "Ready", "protocol": {PROTOCOL}}}') is None
    assert greeting_in({"kind": "Greeting", "protocol": 99, "new": 1}).protocol == 0
    assert greeting_in("hello").protocol == 0


def test_a_request_names_its_files_by_content() -> None:
    request = EvaluateWorkload("{}", {"blob/x": Blob("0" * 64, 3)})
    kinds = {EvaluateWorkload.__name__: EvaluateWorkload}
    assert of_kind(kinds, json.loads(to_line(request))) == request


@pytest.mark.skipif(sys.version_info < (3, 11), reason="PYTHONSAFEPATH is of Python 3.11")
@pytest.mark.parametrize("launch", [(), ("env",)], ids=["here", "far"])
@pytest.mark.parametrize("python", ["", sys.executable], ids=["this Python", "another"])
def test_a_worker_imports_nothing_from_its_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, launch: tuple[str, ...], python: str
) -> None:
    """A dataset of a stranger may be that folder."""
    for name in ("types", "json", "torch"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('mine')")
    monkeypatch.chdir(tmp_path)
    connection = Connection(Place("p", launch=launch, python=python))
    try:
        assert connection.greet(Greeting("cpu")).fictl == VERSION
    finally:
        connection.end()
