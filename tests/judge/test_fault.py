"""Faults of the judge and of its machine, injected: none of them is booked on a solution."""

from __future__ import annotations

import errno
import json
import os
import signal
import socket
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest
from safetensors import SafetensorError

from fictl.errors import SetupError, UsageError
from fictl.judge import Judge, judge
from fictl.judge.exchange.wire import Wire
from fictl.judge.fault import FAULT, JudgeFault, fault, is_of_machine, own_faults
from fictl.judge.inside import solution_server
from fictl.judge.judge_outcome import Decided
from fictl.judge.modes import WARM
from fictl.judge.process import spawn
from fictl.judge.process.sandboxed_process import SandboxedProcess
from fictl.judge.process.scratch import scratch_root
from fictl.judge.process.spawn import Zygote, zygote
from fictl.judge.reference import Reference
from fictl.judge.sandbox.policy import SandboxPolicy
from fictl.judge.solution_process import SolutionProcess

from .judge_runs import CONFIG, WORKLOAD, definition, said, solution

HONEST = "def run(x, s):\n    return x * s\n"
Patch = pytest.MonkeyPatch


@pytest.fixture
def reference() -> Iterator[Reference]:
    with Reference(definition(), "cpu") as made:
        yield made


_ended: list[Zygote] = []


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    while _ended:
        _ended.pop().close()


def refusing(number: int) -> Callable[..., Any]:
    def step(*words: object, **more: object) -> Any:
        raise OSError(number, os.strerror(number))

    return step


def _no_scratch(patch: Patch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    patch.setattr(tempfile, "tempdir", str(tmp_path / "file"))


def _full_disk(patch: Patch, tmp_path: Path) -> None:
    patch.setattr("fictl.judge.process.scratch.Path.mkdir", refusing(errno.ENOSPC))


def _no_more_sockets(patch: Patch, tmp_path: Path) -> None:
    zygote()
    patch.setattr(spawn.socket, "socketpair", refusing(errno.EMFILE))


def _no_more_pipes(patch: Patch, tmp_path: Path) -> None:
    zygote()
    patch.setattr(spawn.os, "pipe", refusing(errno.ENFILE))


def _no_zygote(patch: Patch, tmp_path: Path) -> None:
    patch.setattr(spawn, "_zygotes", {})
    patch.setattr(spawn.subprocess, "Popen", refusing(errno.EAGAIN))


def _zygote_that_cannot_start(patch: Patch, tmp_path: Path) -> None:
    patch.setattr(spawn, "_zygotes", {})
    patch.setattr(spawn.sys, "executable", "/bin/false")


def _zygote_that_ends_meanwhile(patch: Patch, tmp_path: Path) -> None:
    made = Zygote()
    made._popen.kill()
    made._popen.wait()
    _ended.append(made)
    patch.setattr(Zygote, "is_alive", True)
    patch.setattr(spawn, "_zygotes", {os.getpid(): made})


def _walls(patch: Patch, **other: object) -> None:
    zygote()
    said = SandboxPolicy.to_dict
    patch.setattr(SandboxPolicy, "to_dict", lambda self: {**said(self), **other})


def _mounts_that_are_refused(patch: Patch, tmp_path: Path) -> None:
    _walls(patch, files="mountns", network="netns", writable=("/nowhere",))


def _limits_that_are_refused(patch: Patch, tmp_path: Path) -> None:
    _walls(patch, memory="much")


def _defect(patch: Patch, tmp_path: Path) -> None:
    patch.setattr(SandboxedProcess, "ask", lambda *words: {}["nothing"])


FAULTS = [
    _no_scratch,
    _full_disk,
    _no_more_sockets,
    _no_more_pipes,
    _no_zygote,
    _zygote_that_cannot_start,
    _zygote_that_ends_meanwhile,
    _mounts_that_are_refused,
    _limits_that_are_refused,
    _defect,
]


@pytest.mark.parametrize("inject", FAULTS, ids=lambda each: each.__name__.strip("_"))
def test_a_fault_of_the_judge_is_no_status_and_over_when_it_is_mended(
    inject: Callable[[Patch, Path], None], tmp_path: Path, monkeypatch: Patch
) -> None:
    with monkeypatch.context() as patch:
        inject(patch, tmp_path)
        with pytest.raises(SetupError) as caught:
            judge(definition(), solution(HONEST), WORKLOAD, CONFIG)
        assert caught.value.exit_code == 3
        assert caught.value.hint
    found = judge(definition(), solution(HONEST), WORKLOAD, CONFIG)
    assert found.status.value == "PASSED", said(found)


def _children_of(parent: int) -> list[int]:
    found = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    return [int(pid) for pid in found]


def test_a_supervisor_that_is_killed_is_held_against_nobody(reference: Reference) -> None:
    """By the machine, in the middle of a workload."""
    zygote_pid = zygote()._popen.pid
    slow = "import time\ndef run(x, s):\n    time.sleep(30)\n"
    before = {*_children_of(zygote_pid)}
    with Judge(definition(), solution(slow), CONFIG, reference=reference) as one:
        reference.open(WORKLOAD, CONFIG)
        before |= {*_children_of(zygote_pid)}
        one.build()
        (supervisor,) = {*_children_of(zygote_pid)} - before
        os.kill(supervisor, signal.SIGKILL)
        with pytest.raises(JudgeFault, match="supervisor of a sandboxed process has ended"):
            one.evaluate(WORKLOAD)
        assert one._process is None


def test_a_reference_without_room_is_no_invalid_reference(reference: Reference) -> None:
    source = "import errno, os\ndef run(x, s):\n    raise OSError(errno.ENOSPC, 'No space left')\n"
    with pytest.raises(JudgeFault, match="the reference of scale cannot be run") as caught:
        judge(definition(source), solution(HONEST), WORKLOAD, CONFIG)
    assert "No space left" in caught.value.hint


def test_a_reference_that_ends_as_it_is_imported_is_invalid(reference: Reference) -> None:
    made = definition("import os\nos._exit(3)\ndef run(x, s):\n    return x\n")
    with Reference(made, "cpu") as broken:
        for _ in range(2):  # Also when it is asked again.
            found = judge(made, solution(HONEST), WORKLOAD, CONFIG, reference=broken)
            assert found.status.value == "INVALID_REFERENCE", said(found)
            assert "exit code 3" in found.log


def test_memory_that_cannot_be_mapped_is_no_runtime_error(monkeypatch: Patch) -> None:
    def refused(*_: object) -> NoReturn:
        raise OSError(errno.ENOMEM, "Cannot allocate memory")

    monkeypatch.setattr("fictl.judge.exchange.memory.adopt", refused)
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    monkeypatch.setattr(solution_server, "taken", lambda: SimpleNamespace(replaced=list))
    wire = Wire(theirs.detach())
    harness = solution_server.SolutionServer(wire)
    layout = {"inputs": [], "outputs": [["y", "float32", [4], 0]]}
    with ours:
        for said in (
            {"step": "ready", "token": "a"},
            {"step": "go", "token": "a", "layout": layout},
        ):
            socket.send_fds(ours, [json.dumps(said).encode()], [0])
        answer = harness.answer({"op": "turns", "mode": WARM, "bytes": 16})
    wire.close()
    assert (answer["ok"], answer["kind"]) == (False, FAULT)
    assert "Cannot allocate memory" in answer["trace"]


DEEP = """
import os
for _ in range(0 if os.path.exists("d") else 3000):
    os.mkdir("d")
    os.chdir("d")
"""
LEFTOVERS = {
    "deep": DEEP + "def run(x, s):\n    return x * s\n",
    "closed": (
        "import os, tempfile\nmade = tempfile.mkdtemp(dir='.')\nos.mkdir(f'{made}/b')\n"
        "os.chmod(made, 0)\nos.chmod('.', 0)\n"
        "def run(x, s):\n    return x * s\n"
    ),
    "links": (
        "import os\nos.rename('../tmp', '../old')\nos.symlink('/', '../tmp')\n"
        "def run(x, s):\n    return x * s\n"
    ),
    "names": (
        "import os\nfor name in (b'\\xff', b'a\\nb', b'n' * 255):\n    os.makedirs(name, exist_ok=True)\n"
        "def run(x, s):\n    return x * s\n"
    ),
}


@pytest.mark.parametrize("kind", LEFTOVERS)
def test_what_a_solution_leaves_harms_no_other(kind: str, reference: Reference) -> None:
    """Nor its own next process, nor the next run."""
    tried = solution(LEFTOVERS[kind])
    before = _own_rooms()
    with Judge(definition(), tried, CONFIG, reference=reference, isolated=True) as one:
        for _ in range(2):
            found = one.evaluate(WORKLOAD)
            assert found.status.value == "PASSED", said(found)
    found = judge(definition(), solution(HONEST), WORKLOAD, CONFIG, reference=reference)
    assert found.status.value == "PASSED", said(found)
    assert _own_rooms() - before <= {reference.folder}


def _own_rooms() -> set[Path]:
    """Those of this process: other runs of tests have theirs beside them."""
    return {path for path in scratch_root().iterdir() if path.name.startswith(f"{os.getpid()}-")}


class _Says:
    """A sandboxed that has one answer."""

    def __init__(self, **answer: object) -> None:
        self.answer = answer

    def ask(self, request: dict[str, object], seconds: float) -> dict[str, object]:
        return self.answer

    def survey(self) -> None:
        return None


def test_what_a_process_calls_the_judges_fault_is_no_runtime_error(tmp_path: Path) -> None:
    for kind, error in ((FAULT, JudgeFault), ("OSError", Decided)):
        said = _Says(ok=False, kind=kind, trace="No space left on device")
        process = SolutionProcess(said, tmp_path)  # type: ignore[arg-type]
        with pytest.raises(error, match=r"judge's part|No space left"):
            process.ask({"op": "save"})
        assert process.is_spent


def test_a_survey_that_nobody_answers_is_no_reward_hack(tmp_path: Path) -> None:
    process = SolutionProcess(_Says(), tmp_path)  # type: ignore[arg-type]
    with pytest.raises(JudgeFault, match="has ended"):
        process.survey()


def test_what_has_a_meaning_passes() -> None:
    with pytest.raises(UsageError, match="said"), own_faults("trying"):
        raise UsageError("said")


@pytest.mark.parametrize(
    ("error", "told", "hint", "of_machine"),
    [
        (
            OSError(errno.ENOSPC, "No space left on device"),
            "No space left",
            "free some space",
            True,
        ),
        (OSError(errno.EMFILE, "Too many open files"), "Too many open files", "ulimit -n", True),
        (PermissionError(errno.EACCES, "denied"), "denied", "can be written", False),
        (KeyError("seconds"), "KeyError: 'seconds'", "not a verdict", False),
        (MemoryError(), "MemoryError", "not a verdict", False),
        (SetupError("no compiler"), "no compiler", "not a verdict", True),
    ],
)
def test_a_fault_says_what_happened_and_what_to_do(
    error: Exception, told: str, hint: str, of_machine: bool
) -> None:
    made = fault("trying", error)
    assert made.message.startswith("the judge failed while trying: ")
    assert told in made.message
    assert hint in made.hint
    assert is_of_machine(error) is of_machine


def test_a_full_disk_is_known_in_what_safetensors_says() -> None:
    said = "Error while serializing: I/O error: {} (os error {})"
    assert is_of_machine(SafetensorError(said.format("No space left on device", 28)))
    assert not is_of_machine(SafetensorError(said.format("No such file or directory", 2)))
