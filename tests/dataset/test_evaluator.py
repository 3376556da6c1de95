from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fictl.child.lost import Lost, NotStarted
from fictl.child.message import to_line
from fictl.dataset.evaluator import ProcessEvaluator
from fictl.dataset.run_plan import EvaluationJob
from fictl.errors import SetupError, UsageError
from fictl.farm.connection import Connection
from fictl.farm.line import PROTOCOL, Greeting
from fictl.farm.place import Place
from fictl.farm.station import Stopped
from fictl.judge.config import EvalConfig
from fictl.judge.fault import JudgeFault
from fictl.trace import TraceSet
from fictl.version import VERSION
from tests.farm.scripts import place, script

from .samples import definition, solution, workload

# Answers as the worker does, by the name of the solution.
_FAKE = (
    f"FICTL, PROTOCOL = {VERSION!r}, {PROTOCOL}"
    """
import json, os, signal, sys, time
print("a line of somebody's on stderr", file=sys.stderr)
for line in sys.stdin:
    said = json.loads(line)
    if said["kind"] == "Greeting":
        print("welcome to this machine")
        ready = {"kind": "Ready", "protocol": PROTOCOL, "fictl": FICTL, "python": "3", "hardware": "x"}
        print(json.dumps(ready), flush=True)
        continue
    if said["kind"] == "JobStarted":
        job = said
        continue
    what = json.loads(job["solution"])["name"]
    if what == "dies":
        os.kill(os.getpid(), signal.SIGSEGV)
    if what == "hangs":
        time.sleep(100)
    if what == "mumbles":
        print("what?", flush=True)
        continue
    if what == "nothing":
        answer = {"kind": "Evaluated", "evaluation": None}
    elif what == "other":
        answer = {"kind": "Held"}
    elif what == "no evaluation":
        answer = {"kind": "Evaluated", "evaluation": "{}"}
    elif what == "fault":
        answer = {"kind": "JudgeFailed", "message": "no space", "hint": ""}
    elif what.startswith("error"):
        code = int(what[-1])
        answer = {"kind": "NotDone", "message": what, "hint": "do it", "code": code}
    elif said["kind"] == "BuildSolution":
        answer = {"kind": "Evaluated", "evaluation": None}
    else:
        place = {"hardware": str(os.getpid())}
        made = {"status": "RUNTIME_ERROR", "environment": place, "timestamp": "now"}
        made["log"] = os.environ.get("CUDA_VISIBLE_DEVICES", "") + (job["scratch"] or "")
        answer = {"kind": "Evaluated", "evaluation": json.dumps(made)}
    print(json.dumps({**answer, "number": said["number"]}), flush=True)
"""
)


def job(name: str, **config: float) -> EvaluationJob:
    return EvaluationJob(
        definition("d"), solution(name, "d"), EvalConfig(device="cpu", **config), 1
    )


@pytest.fixture
def evaluator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ProcessEvaluator]:
    monkeypatch.setattr("fictl.dataset.evaluator._SPARE_SECONDS", 0.3)
    slot = Place("7", {"CUDA_VISIBLE_DEVICES": "7"})
    made = ProcessEvaluator(tmp_path, replace(slot, python=script(tmp_path, _FAKE)))
    yield made
    made.close()


def pid(evaluator: ProcessEvaluator) -> str:
    return evaluator.evaluate(job("fine"), workload("w")).environment.hardware


def test_one_process_serves_all_jobs_of_a_slot(evaluator: ProcessEvaluator) -> None:
    assert pid(evaluator) == pid(evaluator)
    assert evaluator.evaluate(job("fine"), workload("w")).log == "7"


def test_a_build_that_is_done_is_no_result(evaluator: ProcessEvaluator) -> None:
    assert evaluator.build(job("fine")) is None


def test_work_of_a_worker_that_dies_is_lost_and_the_next_has_another(
    evaluator: ProcessEvaluator,
) -> None:
    first = pid(evaluator)
    with pytest.raises(Lost, match="its process ended with SIGSEGV"):
        evaluator.evaluate(job("dies"), workload("w"))
    assert pid(evaluator) != first


def test_a_worker_that_died_unasked_is_replaced_in_silence(evaluator: ProcessEvaluator) -> None:
    first = pid(evaluator)
    connection: Any = evaluator._connection
    os.kill(int(first), signal.SIGKILL)
    while not connection.has_ended:
        time.sleep(0.01)
    assert pid(evaluator) != first


def test_work_of_a_compiler_that_dies_is_lost(evaluator: ProcessEvaluator) -> None:
    with pytest.raises(Lost, match="SIGSEGV"):
        evaluator.build(job("dies"))


def test_a_worker_that_hangs_is_ended(evaluator: ProcessEvaluator) -> None:
    first = pid(evaluator)
    slow = job("hangs", timeout_seconds=0.03, compile_timeout_seconds=0.03)
    with pytest.raises(Lost, match="did not answer within"):
        evaluator.evaluate(slow, workload("w"))
    assert not _is_alive(int(first))


@pytest.mark.parametrize("name", ["mumbles", "nothing", "other", "no evaluation"])
def test_a_worker_that_says_what_cannot_be_read_is_replaced(
    evaluator: ProcessEvaluator, name: str
) -> None:
    first = pid(evaluator)
    with pytest.raises(Lost, match=r"its (answer|result) (cannot be read|is)"):
        evaluator.evaluate(job(name), workload("w"))
    assert pid(evaluator) != first


def test_a_worker_that_has_failed_goes_on(evaluator: ProcessEvaluator) -> None:
    first = pid(evaluator)
    with pytest.raises(JudgeFault, match="no space"):
        evaluator.evaluate(job("fault"), workload("w"))
    assert pid(evaluator) == first


def test_a_worker_that_cannot_be_started_is_the_judges_fault(
    evaluator: ProcessEvaluator, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*words: object, **more: object) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr("fictl.child.local_process.subprocess.Popen", refused)
    with pytest.raises(JudgeFault, match="Too many open files") as caught:
        evaluator.evaluate(job("fine"), workload("w"))
    assert "ulimit -n" in caught.value.hint


@pytest.mark.parametrize(("name", "kind"), [("error2", UsageError), ("error3", SetupError)])
def test_an_error_is_raised_here(
    evaluator: ProcessEvaluator, name: str, kind: type[Exception]
) -> None:
    with pytest.raises(kind, match=name):
        evaluator.evaluate(job(name), workload("w"))
    assert pid(evaluator)


def test_stop_ends_what_runs(evaluator: ProcessEvaluator) -> None:
    first = pid(evaluator)
    threading.Timer(0.2, evaluator.stop).start()
    with pytest.raises(Stopped):
        evaluator.evaluate(job("hangs"), workload("w"))
    assert not _is_alive(int(first))
    with pytest.raises(Stopped):
        evaluator.evaluate(job("fine"), workload("w"))


def test_close_leaves_no_process(evaluator: ProcessEvaluator) -> None:
    first = pid(evaluator)
    evaluator.close()
    assert not _is_alive(int(first))


def _is_alive(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    return True


_BUSY = """
import time, fictl.farm.worker as worker
class Slow:
    def __init__(self, *given): pass
    def evaluate(self, workload):
        with open({path!r}, "w") as file:  # The signal may come in its middle.
            file.write("begun")
        time.sleep(100)
    def close(self): open({path!r}, "w").write("closed")
worker.JudgeServer = Slow
raise SystemExit(worker.main())
"""


@pytest.mark.parametrize("way", ["its pipe is closed", "it is told"])
def test_a_worker_does_not_outlive_who_asks(tmp_path: Path, way: str) -> None:
    """In the middle of an evaluation, too: what judges is closed, and with it what is judged."""
    said = tmp_path / "said"
    code = _BUSY.format(path=str(said))
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE) as worker:
        assert worker.stdin is not None
        worker.stdin.write(to_line(Greeting("cpu")).encode() + b"\n")
        worker.stdin.write(b'{"kind": "EvaluateWorkload", "workload": "{}"}\n')
        worker.stdin.flush()
        while not said.exists():
            assert worker.poll() is None
            time.sleep(0.02)
        if way == "it is told":
            worker.send_signal(signal.SIGTERM)
        worker.stdin.close()
        assert worker.wait(60) == 128 + signal.SIGTERM
    assert said.read_text() == "closed"


_SHORT_LINES = """
from fictl.child import lines
from fictl.farm import worker
lines.LONGEST = 1 << 20
raise SystemExit(worker.main())
"""


def test_a_worker_that_cannot_understand_who_asks_ends() -> None:
    """Though its pipe stays open: it must not hold its GPU for ever."""
    argv = [sys.executable, "-c", _SHORT_LINES]
    with subprocess.Popen(argv, stdin=subprocess.PIPE) as worker:
        assert worker.stdin is not None
        with suppress(BrokenPipeError):
            worker.stdin.write(to_line(Greeting("cpu")).encode() + b"\n" + b"x" * (3 << 20))
        assert worker.wait(60) in (0, 130)
        with suppress(BrokenPipeError):
            worker.stdin.close()


_MISSING = "/nowhere/python"
_OTHER = """
import json, sys
sys.stdin.readline()
print(json.dumps({"kind": "Ready", "protocol": 1, "fictl": "0.0.9", "python": "3.9.1", "hardware": "x"}))
sys.stdin.read()
"""
_BLIND = _OTHER.replace('"0.0.9"', repr(VERSION)).replace('"x"', '""')
_BLIND = _BLIND.replace('"protocol": 1', f'"protocol": {PROTOCOL}')


@pytest.mark.parametrize(
    ("made", "message", "hint"),
    [
        (
            lambda _: Place("7", python=_MISSING),
            "exit code 127.*no /nowhere/python",
            "a command that starts it",
        ),
        (
            lambda at: place(at, "nowhere/fictl-python -m x", shell=True),
            "exit code 127.*nowhere/fictl-python",
            "a comm",
        ),
        (
            lambda at: place(at, "echo no route to host >&2; exit 255", shell=True),
            "no route to host",
            "connects",
        ),
        (lambda _: Place("7", python="/"), "exit code 126", "cannot be executed"),
        (lambda at: place(at, "import fictl.nowhere"), "No module named", "install fictl"),
        (lambda at: place(at, "print('nobody here')"), "exit code 0.*nobody here", ""),
        (lambda at: place(at, "kill -9 $$", shell=True), "SIGKILL", ""),
        (
            lambda at: place(at, _OTHER),
            "fictl 0.0.9 runs there .Python 3.9.1., and this is",
            "same version",
        ),
        (lambda at: place(at, _BLIND), "sees no GPU", "fictl doctor"),
        (lambda at: place(at, "exec yes", shell=True), "it is not a worker of fictl.: y", ""),
    ],
)
def test_a_place_that_cannot_start_says_why(
    tmp_path: Path, made: Callable[[Path], Place], message: str, hint: str
) -> None:
    evaluator = ProcessEvaluator(tmp_path, made(tmp_path))
    on_gpu = replace(job("fine"), config=EvalConfig(device="cuda"))
    with pytest.raises(NotStarted, match=message) as caught:
        evaluator.evaluate(on_gpu, workload("w"))
    assert hint in caught.value.hint
    evaluator.close()


def test_a_process_that_only_compiles_needs_no_gpu(tmp_path: Path) -> None:
    code = _FAKE.replace('"hardware": "x"', '"hardware": ""')
    evaluator = ProcessEvaluator(tmp_path, place(tmp_path, code, runs=False))
    assert evaluator.build(replace(job("fine"), config=EvalConfig(device="cuda"))) is None
    evaluator.close()


def test_a_start_can_be_stopped(tmp_path: Path) -> None:
    evaluator = ProcessEvaluator(tmp_path, place(tmp_path, "sleep 100", shell=True))
    raised: list[BaseException] = []

    def start() -> None:
        try:
            evaluator.evaluate(job("fine"), workload("w"))
        except Stopped as error:
            raised.append(error)

    thread = threading.Thread(target=start)
    thread.start()
    while evaluator._connection is None:
        time.sleep(0.01)
    evaluator.stop()
    thread.join(30)
    assert len(raised) == 1


def test_a_stop_while_the_process_is_begun_ends_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluator = ProcessEvaluator(tmp_path, place(tmp_path, "sleep 100", shell=True))

    class Begun(Connection):
        def __init__(self, *words: Any) -> None:
            super().__init__(*words)
            evaluator.stop()

    monkeypatch.setattr("fictl.dataset.evaluator.Connection", Begun)
    before = time.monotonic()
    with pytest.raises(Stopped):
        evaluator.evaluate(job("fine"), workload("w"))
    evaluator.close()
    assert time.monotonic() - before < 20


Judged = Callable[[str], tuple[str, str]]


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judged]:
    """By the real worker: the status and the log of what this code computes."""
    root = tmp_path_factory.mktemp("dataset")
    evaluator = ProcessEvaluator(root, Place("cpu"))
    config = EvalConfig(device="cpu", iterations=2, warmup_runs=1, num_trials=1)

    def run(code: str) -> tuple[str, str]:
        one = EvaluationJob(definition("d"), solution("s", "d", code=code), config, 1)
        made = evaluator.evaluate(one, workload("w"))
        return made.status.value, made.log

    yield run
    evaluator.close()


@pytest.mark.parametrize(
    ("code", "status", "log"),
    [
        ("def run(x):\n    return x.clone()\n", "PASSED", ""),
        ("def run(x):\n    return x + 1\n", "INCORRECT_NUMERICAL", "4 of 4 elements differ"),
        ("def run(x:\n", "COMPILE_ERROR", "SyntaxError"),
    ],
)
def test_the_judge_decides(judged: Judged, code: str, status: str, log: str) -> None:
    found, said = judged(code)
    assert found == status
    assert log in said


@pytest.mark.needs_gpu
def test_a_gpu_is_judged_by_its_own_clock_and_held(dataset: TraceSet) -> None:
    from fictl.dataset.run_jobs import run_dataset
    from fictl.dataset.run_options import RunOptions

    dataset.add_solution(solution("copy", "mm", code="def run(x):\n    return x.clone()\n"))
    flags = {"iterations": 5, "warmup_runs": 1}
    asked = RunOptions(solutions=("copy",), flags=flags, gpus=("0",))
    (outcome,) = run_dataset(dataset.root, asked).outcomes
    assert outcome.passed
    assert outcome.evaluation is not None
    assert outcome.evaluation.fictl is not None
    assert outcome.evaluation.fictl["timer"] == "cupti"
    assert outcome.to_dict()["latency_ms"] < 1
