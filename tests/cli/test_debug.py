"""fictl debug: what is asked of the debugger, and what is shown of its answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import typer

from fictl.debug.debugger import Debugger
from fictl.debug.session import DebugSession
from fictl.debug.start import DebugRequest
from fictl.debug.transcript import DebugStop, Transcript
from fictl.op.watch.dump.record import METADATA

HANDED_OVER = 44
STOP = DebugStop("n::HalveKernel", "", (0, 0, 0), (5, 0, 0), "halve.cuh", 7)
FAULT = DebugStop(
    "n::HalveKernel", "SIGSEGV, Segmentation fault", (1, 0, 0), (2, 0, 0), "halve.cuh", 9
)


@pytest.fixture
def asked(repo: Path, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """No debugger runs: the list fills with what was asked of it, and a batch stops once."""
    calls: list[Any] = []

    def start(asked: DebugRequest, observer: Any) -> DebugSession:
        calls.append(asked)
        gdb = Debugger("gdb", Path("/bin/gdb"))
        return DebugSession(gdb, asked.program, ("n::HalveKernel",), asked.focus, more=asked.more)

    monkeypatch.setattr("fictl.debug.start.session", start)
    monkeypatch.setattr(DebugSession, "hand_over", never_back)
    answer(monkeypatch, Transcript("$1 = 5", (STOP,)))
    return calls


def never_back(self: DebugSession) -> None:
    raise typer.Exit(HANDED_OVER)


def answer(monkeypatch: pytest.MonkeyPatch, said: Transcript) -> None:
    monkeypatch.setattr(DebugSession, "run", lambda self, batch, timeout: said)


def test_what_is_asked_for_reaches_the_debugger(fictl, asked) -> None:
    words = ("--case", "7", "--dtype", "f16", "--axis", "n=3", "--block", "3", "--thread", "5,1")
    more = ("--kernel", "Halve", "--break", "halve.cuh:7", "--batch", "bt", "--device", "emu")
    said = fictl("debug", "halve", *words, *more, "--", "-ex", "x")
    assert said.code == 0
    (request,) = asked
    assert (request.kernel, request.places) == ("Halve", ("halve.cuh:7",))
    assert (request.focus.block, request.focus.thread) == ((3, 0, 0), (5, 1, 0))
    assert request.more == ("-ex", "x")
    assert '"case": "7"' in request.program.argv[-1]


def test_a_batch_is_printed_and_says_what_was_debugged(fictl, asked) -> None:
    said = fictl("debug", "halve", "--thread", "5", "--batch", "print i", "--device", "emu")
    assert (said.code, said.out) == (0, "$1 = 5\n")
    assert said.err == (
        "emulated: no GPU is used; gdb on a debug build for my_kernels/elementwise/halve, to "
        "n::HalveKernel, thread (5,0,0)\n"
    )


def test_a_fault_is_who_made_it_and_where_and_exit_code_1(fictl, asked, monkeypatch) -> None:
    answer(monkeypatch, Transcript("it [said] so", (STOP, FAULT)))
    said = fictl("debug", "halve", "--fault", "--batch", "bt", "--device", "emu")
    assert said.code == 1
    assert said.out.splitlines() == [
        "it [said] so",
        "✗ SIGSEGV, Segmentation fault in n::HalveKernel, block (1,0,0), thread (2,0,0)  "
        "halve.cuh:9",
    ]


def test_a_kernel_that_was_not_reached_is_exit_code_1(fictl, asked, monkeypatch) -> None:
    answer(monkeypatch, Transcript("", (), "with code 01"))
    said = fictl("debug", "halve", "--batch", "bt", "--device", "emu")
    assert said.code == 1
    assert "✗ nothing stopped it: the program ended with code 01" in said.out


def test_json_has_the_stops(fictl, asked) -> None:
    said = fictl("debug", "halve", "--batch", "bt", "--device", "emu", "--json")
    assert (said.code, said.document["schema"]) == (0, "fictl.debug/1")
    data = said.document["data"]
    assert (data["device"], data["places"]) == ("emu", ["n::HalveKernel"])
    assert data["stops"][0]["line"] == 7


def test_without_a_batch_the_terminal_is_the_debuggers(fictl, asked) -> None:
    assert fictl("debug", "halve", "--device", "emu").code == HANDED_OVER
    assert len(asked) == 1


def test_a_dry_run_is_the_command_line(fictl, asked) -> None:
    said = fictl("debug", "halve", "--device", "emu", "--dry-run", "--batch", "info locals")
    assert said.code == 0
    assert said.out.startswith("/bin/gdb -nx -batch ")
    assert "-ex 'info locals'" in said.out


def test_a_dump_is_a_program_too(fictl, asked, repo: Path, monkeypatch) -> None:
    dump = repo / "dumps" / "one"
    dump.mkdir(parents=True)
    (dump / METADATA).write_text("nonsense\n", encoding="utf-8")
    said = fictl("debug", str(dump), "--device", "emu", "--batch", "bt")
    assert said.code == 2
    assert "is damaged" in said.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("halve", "--json"), "--json needs --batch"),
        (("halve", "--fault", "--kernel", "x"), "--fault stops at faults only"),
        (("halve", "--block", "x"), "--block 'x' is not an index"),
        (("halve", "--axis", "n"), "'n' is not an axis"),
        (("halved",), "halved"),
        ((), "Missing argument"),
    ],
)
def test_a_request_that_means_nothing_is_exit_code_2(fictl, asked, words, said) -> None:
    found = fictl("debug", *words)
    assert found.code == 2
    assert said in found.err + found.out
    assert asked == []
