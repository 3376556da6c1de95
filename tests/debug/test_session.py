"""The command line of a debugger, and what comes of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from fictl.case.options import CaseOptions
from fictl.debug.debugger import Debugger
from fictl.debug.focus import Focus
from fictl.debug.session import DebugProgram, DebugSession
from fictl.errors import SetupError
from fictl.project import OpFolder

FOCUS = Focus((3, 0, 0), None)
CONDITION = "blockIdx.x == 3 && blockIdx.y == 0 && blockIdx.z == 0"


@pytest.fixture
def session(tiny: Path) -> Callable[..., DebugSession]:
    folder = OpFolder.of(tiny / "kernels" / "elementwise" / "twice" / "op.py")
    program = DebugProgram.of_case(folder, ["twice"], CaseOptions(case="1"))

    def make(
        name: str, path: str = "/bin/debugger", focus: Focus = FOCUS, has_python=False, **more
    ) -> DebugSession:
        debugger = Debugger(name, Path(path), has_python)
        return DebugSession(debugger, program, ("a::K", "b.cuh:3"), focus, **more)

    return make


def after(words: list[str], option: str) -> list[str]:
    return [word for before, word in pairwise(words) if before == option]


def test_the_program_is_the_smallest_case_of_the_op(session) -> None:
    words = session("gdb").argv()
    program = words[words.index("--args") + 1 :]
    assert program[1:3] == ["-m", "fictl.debug.program"]
    request = json.loads(program[3])
    assert (request["functions"], request["options"]["case"]) == (["twice"], "1")


def test_on_a_gpu_breakpoints_have_the_focus(session) -> None:
    commands = after(session("cuda-gdb").argv(["bt"]), "-ex")
    stop = f"pipe break a::K if {CONDITION} | cat > /dev/null"
    assert commands[commands.index(stop) :] == [
        stop,
        f"pipe break b.cuh:3 if {CONDITION} | cat > /dev/null",
        "run",
        "bt",
    ]
    assert "set environment FICTL_JIT_DEBUG 1" in commands
    assert "set environment FICTL_DEVICE cuda" in commands


def test_emulated_gdb_has_what_it_must_know_of_threads(session) -> None:
    words = session("gdb", folders=(Path("/src"),)).argv()
    commands = after(words, "-ex")
    assert Path(after(words, "-x")[0]).name == "inside_gdb.py"
    assert "python install('/src', 'block (3,0,0)', ['a::K', 'b.cuh:3'])" in commands
    assert "set environment FICTL_EMU_THREADS 1" in commands
    assert commands[-2:] == ["run", "set scheduler-locking step"]


def test_folders_of_another_checkout_are_those_here(session) -> None:
    commands = after(session("cuda-gdb", moved={Path("/there/k"): Path("/here/k")}).argv(), "-ex")
    assert "set substitute-path /there/k /here/k" in commands


def test_without_a_focus_there_is_no_condition(session) -> None:
    commands = after(session("cuda-gdb", focus=Focus()).argv(), "-ex")
    assert "pipe break a::K | cat > /dev/null" in commands
    assert commands[-1] == "run"


def test_a_terminal_gets_the_users_own_settings_and_a_batch_does_not(session) -> None:
    assert {"-nx", "-batch"}.isdisjoint(session("gdb").argv())
    assert {"-nx", "-batch"} <= {*session("gdb").argv([])}


def test_on_a_terminal_the_programs_words_are_not_printed(session) -> None:
    commands = after(session("gdb", has_python=True).argv(), "-ex")
    assert 'python gdb.execute("run")' in commands
    assert "run" not in commands


def test_the_debuggers_own_words_come_before_the_program(session) -> None:
    words = session("gdb", more=("-ex", "info threads")).argv()
    assert words[words.index("--args") - 2 : words.index("--args")] == ["-ex", "info threads"]


def test_a_batch_is_a_transcript(session, script: Callable[[str, str], Path]) -> None:
    gdb = script("gdb", "echo '[New Thread 1]'; echo '[Inferior 1 (process 7) exited normally]'")
    said = session("gdb", str(gdb)).run(["bt"], 60.0)
    assert said.output == "[Inferior 1 (process 7) exited normally]"


def test_a_terminal_is_handed_over(session, monkeypatch) -> None:
    called = []
    monkeypatch.setattr("os.execvpe", lambda *words: called.append(words))
    session("gdb").hand_over()
    assert called[0][:2] == ("/bin/debugger", session("gdb").argv())


def test_one_that_cannot_be_started_is_an_error(session) -> None:
    with pytest.raises(SetupError, match=r"cannot run /bin/debugger: No such file"):
        session("gdb").hand_over()
