"""Places behind a real ssh server on the loopback interface, of which any part is killed."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fictl.child.family import Member, member
from fictl.dataset.run_jobs import run_dataset
from fictl.dataset.run_observer import RunObserver
from fictl.dataset.run_options import RunOptions
from fictl.dataset.run_outcome import RunOutcome
from fictl.errors import SetupError
from fictl.farm.line import Greeting
from fictl.farm.opening import open_all
from fictl.farm.place import Place
from fictl.farm.spread.command_doer import Project
from fictl.farm.spread.command_job import CommandJob
from fictl.farm.spread.project_files import project_files
from fictl.farm.spread.spread import spread
from fictl.project import select
from fictl.trace import TraceSet
from tests.dataset.samples import definition, saved, solution, workload
from tests.farm.fake_worker import fake_worker
from tests.servers.sshd import Sshd, clients

# What dies, and how to find it: on the other machine, on this one, and between them.
_VICTIMS: dict[str, Callable[[Sshd], list[Member]]] = {
    "worker": lambda ssh: ssh.processes(f"{sys.executable} -m fictl.farm.worker")[-1:],
    "ssh": lambda ssh: clients(),
    "session": lambda ssh: ssh.sessions(),
}


def places_file(ssh: Sshd, path: Path, python: str = sys.executable) -> Path:
    words = ", ".join(f'"{word}"' for word in ssh.launch)
    path.write_text(
        f'[[place]]\nname = "gpu{{0..1}}"\nlaunch = [{words}]\npython = "{python}"\n'
        f'variables = {{ FICTL_WORKSPACE_BASE = "{path.parent}/with space{{0..1}}" }}\n'
    )
    return path


def dataset_of(folder: Path, workloads: int) -> TraceSet:
    root = folder / "dataset"
    root.mkdir()
    dataset = TraceSet.from_path(root)
    dataset.add_definition(definition("d"))
    dataset.add_workloads("d", [workload(f"w{n}") for n in range(workloads)])
    dataset.add_solution(solution("s", "d", code="def run(x):\n    return x.clone()\n"))
    return dataset


def assert_nothing_left(ssh: Sshd) -> None:
    """No worker or command stays on the other machine."""
    deadline = time.monotonic() + 20
    while left := ssh.processes("python"):
        assert time.monotonic() < deadline, left
        time.sleep(0.02)


def test_a_dataset_is_evaluated_over_ssh(ssh: Sshd, tmp_path: Path) -> None:
    dataset = dataset_of(tmp_path, 4)
    flags = {"iterations": 1, "warmup_runs": 1, "num_trials": 1, "profile_baseline": False}
    on = places_file(ssh, tmp_path / "places.toml")
    summary = run_dataset(dataset.root, RunOptions(device="cpu", on=str(on), flags=flags))
    assert (dict(summary.statuses), summary.left_out) == ({"PASSED": 4}, ())
    assert {outcome.place[:3] for outcome in summary.outcomes} == {"gpu"}
    assert_nothing_left(ssh)


class Killer(RunObserver):
    """Sends a signal to what is found, after some outcomes."""

    def __init__(self, find: Callable[[], list[Member]], number: signal.Signals) -> None:
        self._find, self._number = find, number
        self.killed: list[Member] = []

    def outcome(self, outcome: RunOutcome, done: int, total: int) -> None:
        if done in (3, 9):
            victims = self._find()[:1]
            self.killed += victims
            for victim in victims:
                victim.signal(self._number)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
@pytest.mark.parametrize("what", _VICTIMS)
def test_whatever_dies_or_stops_evaluations_are_done_once(
    ssh: Sshd, tmp_path: Path, what: str, number: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fictl.farm.connection.HEARTBEAT_SECONDS", 0.6)
    dataset = dataset_of(tmp_path, 30)
    slow = "def misbehave(*_): time.sleep(0.02)\n"
    on = places_file(ssh, tmp_path / "places.toml", fake_worker(tmp_path, slow))
    find = (lambda: ssh.processes("script-")) if what == "worker" else lambda: _VICTIMS[what](ssh)
    killer = Killer(find, number)
    options = RunOptions(device="cpu", on=str(on))
    summary = run_dataset(dataset.root, options, killer)
    for stopped in killer.killed:
        stopped.signal(signal.SIGCONT)
    assert len(killer.killed) == 2
    assert (summary.undone, summary.faults, summary.left_out) == (0, [], ())
    logs = Counter(trace.evaluation.log for trace in saved(dataset) if trace.evaluation)
    assert logs == {f"s/w{number}": 1 for number in range(30)}
    assert_nothing_left(ssh)


@contextmanager
def killed_during(word: str, ssh: Sshd, what: str) -> Iterator[list[Member]]:
    """Kill the victim as soon as a command with this word runs at a place."""
    killed: list[Member] = []
    over = threading.Event()

    def watch() -> None:
        while not (over.is_set() or ssh.processes(f" {word} ")):
            over.wait(0.01)
        killed.extend(_VICTIMS[what](ssh)[:1])
        for victim in killed:
            victim.signal(signal.SIGKILL)

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        yield killed
    finally:
        over.set()
        watching.join()


@pytest.mark.parametrize(
    ("command", "what"), [("build", "worker"), ("test", "ssh"), ("bench", "session")]
)
def test_a_command_whose_place_dies_is_done_elsewhere(
    ssh: Sshd, tiny: Path, users_cache: None, command: str, what: str
) -> None:
    words = {"bench": ("--max-time", "0.1")}.get(command, ())
    job = CommandJob("twice", (command, "twice", "--device", "emu", *words))
    cache = {"FICTL_WORKSPACE_BASE": os.environ["FICTL_WORKSPACE_BASE"]}
    places = [Place(f"gpu{n}", launch=ssh.launch, variables=cache) for n in range(2)]
    with project_files(select(("twice",))) as project, killed_during(command, ssh, what) as killed:
        found = spread([job], places, project)
    assert len(killed) == 1
    assert member(killed[0].pid) is None
    (result,) = found.results
    assert (result.code, result.error, found.left_out) == (0, None, ())
    assert_nothing_left(ssh)


def test_a_host_that_refuses_is_left_out_by_name(ssh: Sshd) -> None:
    closed = Place("gone", launch=(*ssh.launch[:-1], "-p", "1", ssh.launch[-1]))
    (one,) = open_all([closed], lambda place: Greeting("cpu"))
    assert "exit code 255" in one.why
    assert "refused" in one.why
    with pytest.raises(SetupError, match="place gone left out"):
        spread([CommandJob("one", ("config", "show"))], [closed], Project())
