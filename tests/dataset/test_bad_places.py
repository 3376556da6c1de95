"""Places that lie, mumble, stall or die: each key has one result, and none is another's."""

from __future__ import annotations

import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from fictl.dataset.run_jobs import run_dataset
from fictl.dataset.run_options import RunOptions
from fictl.dataset.summary import Summary
from fictl.trace import TraceSet
from tests.farm.fake_worker import OBEDIENT, fake_worker, places_file

from .samples import definition, saved, solution, workload

_SLOW = "def misbehave(solution, workload, number): time.sleep(0.03)\n"
_NEVER_ENDS = "time.sleep(1000)"
# Code of a place, by what is wrong with it.
_MISBEHAVIOURS = {
    "answers twice": "    answer(solution, workload, number)",
    "answers with another job's number": "    answer(solution, workload, number - 1)",
    "answers what was never asked": "    answer(solution, workload, number + 1)",
    "answers before the question": "    answer(solution, workload, number + 1)\n" * 2,
    "sends a result that is none": "    send(kind='Evaluated', evaluation='{}', number=number)",
    "sends no result": "    send(kind='Evaluated', evaluation=None, number=number)",
    "sends a message of another request": "    send(kind='Held', number=number)",
    "sends a message that is not known": "    send(kind='Evil', number=number)",
    "sends half a line and ends": '    os.write(1, b\'{"kind": "Evalu\'); os._exit(0)',
    "sends half a line and stops": f"    os.write(1, b'{{'); {_NEVER_ENDS}",
    "sends a line without end": "    while True: os.write(1, b'x' * 65536)",
    "sends garbage": "    os.write(1, os.urandom(4096) + b'\\n')",
    "sends a huge result": "    send(kind='Evaluated', evaluation='x' * 9_000_000, number=number)",
    "sends a file": "    send(kind='Coming', blob={'sha256': '0' * 64, 'size': 1})",
    "wants a file": "    send(kind='Wanted', blobs=[{'sha256': '0' * 64, 'size': 1}]); os._exit(1)",
    "says nothing": f"    {_NEVER_ENDS}",
    "is stopped": "    os.kill(os.getpid(), signal.SIGSTOP)",
    "dies": "    os.kill(os.getpid(), signal.SIGKILL)",
    "has a fault": "    send(kind='JudgeFailed', message='disk full', hint='', number=number)",
    "has a broken GPU": "    send(kind='JudgeFailed', message='x', hint='', is_sticky=True, "
    "number=number)",
    "cannot do it": "    send(kind='NotDone', message='no torch', hint='', code=3, number=number)",
}
# Code that a place runs instead of a greeting.
_STARTS = {
    "prints nothing": _NEVER_ENDS,
    "prints a banner and ends": "print('Welcome to gpu9'); sys.exit()",
    "prints garbage": "os.write(1, os.urandom(1 << 20)); sys.exit()",
    "prints a line without end": "while True: os.write(1, b'x' * 65536)",
    "prints half a line": f'os.write(1, b\'{{"kind": "Ready"\'); {_NEVER_ENDS}',
    "prints lines without end": "while True: os.write(1, b'spam\\n' * 100)",
    "has another version": "READY['fictl'] = '0.0.1'",
    "has another protocol": "READY['protocol'] = 99",
    "has another commit": "READY['commit'] = 'f' * 40",
}


@pytest.fixture(autouse=True)
def _short_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fictl.farm.connection.HEARTBEAT_SECONDS", 0.3)
    monkeypatch.setattr("fictl.child.lines.LONGEST", 8 << 20)


@pytest.fixture
def large(tmp_path: Path) -> TraceSet:
    return dataset_of(tmp_path, 5, 4)


def dataset_of(folder: Path, solutions: int, workloads: int) -> TraceSet:
    root = folder / "large"
    root.mkdir()
    made = TraceSet.from_path(root)
    made.add_definition(definition("d"))
    made.add_workloads("d", [workload(f"w{n}") for n in range(workloads)])
    for number in range(solutions):
        made.add_solution(solution(f"s{number}", "d"))
    return made


def run(dataset: TraceSet, on: Path) -> Summary:
    return run_dataset(dataset.root, RunOptions(device="cpu", on=str(on)))


def assert_each_key_once(dataset: TraceSet, count: int) -> None:
    """Every key has one line, of its own result, that blames nobody."""
    keys: Counter[str] = Counter()
    for trace in saved(dataset):
        assert trace.evaluation is not None
        key = f"{trace.solution}/{trace.workload.uuid}"
        assert (trace.evaluation.log, trace.evaluation.status.value) == (key, "PASSED")
        keys[key] += 1
    assert (len(keys), {*keys.values()}) == (count, {1})


@pytest.mark.parametrize("what", _MISBEHAVIOURS)
def test_a_place_that_misbehaves_spoils_no_result(
    large: TraceSet, tmp_path: Path, what: str
) -> None:
    tried = tmp_path / "tried"
    code = f"def misbehave(solution, workload, number):\n    open({str(tried)!r}, 'w')\n"
    bad = fake_worker(tmp_path, f"{code}{_MISBEHAVIOURS[what]}\n")
    programs = {"good": fake_worker(tmp_path, _SLOW), "bad": bad}
    summary = run(large, places_file(tmp_path / "places.toml", programs))
    assert tried.exists()
    assert (summary.undone, summary.faults) == (0, [])
    assert_each_key_once(large, 20)


@pytest.mark.parametrize("what", _STARTS)
def test_a_place_that_does_not_start_is_left_out_by_name(
    large: TraceSet, tmp_path: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fictl.farm.connection._START_SECONDS", 2.0)
    bad = fake_worker(tmp_path, OBEDIENT, _STARTS[what])
    summary = run(
        large, places_file(tmp_path / "places.toml", {"good": fake_worker(tmp_path), "bad": bad})
    )
    (why,) = summary.left_out
    assert why.startswith("place bad1 left out: ")
    assert why.isprintable()
    assert_each_key_once(large, 20)


def test_this_machine_and_others_work_together(large: TraceSet, tmp_path: Path) -> None:
    """A place of a file without a launch command sees this machine's files; its results count as
    all others do."""
    on = places_file(tmp_path / "places.toml", {"far": fake_worker(tmp_path, _SLOW)})
    near = f'[[place]]\nname = "near"\npython = "{fake_worker(tmp_path, _SLOW)}"\n'
    on.write_text(on.read_text() + near)
    summary = run(large, on)
    assert {outcome.place for outcome in summary.outcomes} == {"far1", "near"}
    assert_each_key_once(large, 20)


def test_500_evaluations_at_8_places_of_which_a_tenth_is_killed(tmp_path: Path) -> None:
    dataset = dataset_of(tmp_path, 10, 50)
    dies = (
        "def misbehave(*_):\n    if random.random() < 0.1: os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    on = places_file(tmp_path / "places.toml", {"p": fake_worker(tmp_path, dies)}, 8)
    before = threading.active_count()
    handles = len([*Path("/proc/self/fd").iterdir()])
    summary = run(dataset, on)
    assert (len(summary.outcomes), summary.undone, summary.faults) == (500, 0, [])
    assert_each_key_once(dataset, 500)
    deadline = time.monotonic() + 20  # For the threads that read what the killed have said last.
    while threading.active_count() > before or len([*Path("/proc/self/fd").iterdir()]) > handles:
        assert time.monotonic() < deadline
        time.sleep(0.01)
