"""A command in a process: its document, its end, and what it says on the way."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from fictl.errors import FictlError, SetupError

anyio = pytest.importorskip("anyio")

from fictl.cli._mcp.process import document_of  # noqa: E402 it imports anyio


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Make a shell script run in place of `python -m fictl`."""

    def use(text: str) -> Path:
        path = tmp_path / "program"
        path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        path.chmod(0o755)
        monkeypatch.setattr(sys, "executable", str(path))
        return tmp_path

    return use


def run(folder: Path, timeout: float = 60, *, cancel_at: str = "") -> tuple[object, list[str]]:
    """Call it; with `cancel_at` the caller gives up as soon as it hears that."""
    heard: list[str] = []

    async def call() -> object:
        with anyio.CancelScope() as scope:

            async def tell(line: str) -> None:
                heard.append(line)
                if line == cancel_at:
                    scope.cancel()

            return await document_of(["test", "--json"], folder, timeout, tell)
        return None

    return anyio.run(call), heard


def test_the_document_is_returned_and_notes_are_told(program) -> None:
    folder = program('echo building >&2; echo "{\\"ok\\": true, \\"words\\": \\"$*\\"}"')
    document, heard = run(folder)
    assert document == {"ok": True, "words": "-m fictl test --json"}
    assert heard == ["building"]


def test_it_runs_in_the_project_and_imports_nothing_from_there(program) -> None:
    folder = program('echo "{\\"here\\": \\"$PWD\\", \\"safe\\": \\"$PYTHONSAFEPATH\\"}"')
    assert run(folder)[0] == {"here": str(folder), "safe": "1"}


def test_nothing_can_be_read_from_the_protocol(program) -> None:
    assert run(program('read word; echo "{\\"read\\": \\"$word\\"}"'))[0] == {"read": ""}


def test_a_process_that_ends_without_a_document_is_told_with_its_last_words(program) -> None:
    folder = program("echo working >&2; echo 'no memory left' >&2; kill -9 $$")
    with pytest.raises(FictlError) as caught:
        run(folder)
    assert caught.value.message == "fictl test --json ended with -9 and without a document"
    assert caught.value.hint == "its last words: no memory left"


def test_a_process_over_its_time_is_ended_in_order(program) -> None:
    folder = program("trap 'echo ended > mark; exit' TERM; sleep 60 & wait")
    with pytest.raises(SetupError, match=r"was still running after 0\.5 s"):
        run(folder, 0.5)
    assert (folder / "mark").read_text() == "ended\n"


def test_a_cancelled_call_ends_its_process_in_order(program) -> None:
    folder = program("trap 'echo ended > mark; exit' TERM; echo begun >&2; sleep 60 & wait")
    assert run(folder, cancel_at="begun") == (None, ["begun"])
    assert (folder / "mark").read_text() == "ended\n"


def test_a_process_that_does_not_listen_is_killed_with_its_group(program, monkeypatch) -> None:
    monkeypatch.setattr("fictl.cli._mcp.process._GRACE_SECONDS", 0.2)
    folder = program("trap '' TERM; echo begun >&2; (sleep 60; echo late > mark) & wait; wait")
    assert run(folder, cancel_at="begun")[0] is None
    assert not (folder / "mark").exists()


def test_an_answer_without_end_is_refused(program, monkeypatch) -> None:
    monkeypatch.setattr("fictl.cli._mcp.process._LARGEST", 1000)
    with pytest.raises(FictlError, match="larger than"):
        run(program("head -c 5000 /dev/zero"))
