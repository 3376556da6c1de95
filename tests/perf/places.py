"""Places behind command lines: what they cost, and what several of them gain."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from fictl.child.family import descendants
from fictl.dataset.run_jobs import run_dataset
from fictl.dataset.run_observer import RunObserver
from fictl.dataset.run_options import RunOptions
from fictl.dataset.run_outcome import RunOutcome
from fictl.farm.line import HEARTBEAT_SECONDS, MISSED_HEARTBEATS
from fictl.farm.place import Place
from fictl.farm.spread.command_doer import Project
from fictl.farm.spread.command_job import CommandJob
from fictl.farm.spread.spread import spread
from fictl.trace import TraceSet
from sample import Pair, interleave, timed
from tests.dataset.samples import definition, solution, workload
from tests.farm.fake_worker import fake_worker, places_file
from tests.farm.scripts import script
from tests.servers.sshd import running_sshd, words_of

_EVALUATIONS, _JUDGED = 400, 20
_FLAGS = {"iterations": 1, "warmup_runs": 1, "num_trials": 1, "profile_baseline": False}
_OPS = ("scale", "swiglu", "rmsnorm", "merge_state")
# A compiler of a fixed wall time, as this machine may have fewer cores than four places need.
_COMPILER = """
import sys, time
from fictl.farm import worker
from fictl.farm.line import CommandDone
from fictl.farm.serve import commands
def run(self, request):
    time.sleep(0.5)
    return CommandDone(0, '{"schema": "fictl.build/1", "data": []}', "")
commands.CommandServer.run = run
sys.exit(worker.main())
"""


@contextmanager
def _folder() -> Iterator[Path]:
    with TemporaryDirectory() as name:
        yield Path(name)


def _dataset(folder: Path, count: int) -> Path:
    root = folder / "dataset"
    root.mkdir()
    dataset = TraceSet.from_path(root)
    dataset.add_definition(definition("d"))
    dataset.add_workloads("d", [workload(f"w{number}") for number in range(count)])
    dataset.add_solution(solution("s", "d", code="def run(x):\n    return x.clone()\n"))
    return root


def _seconds_each(root: Path, on: Path | None) -> float:
    """Seconds between the first and the last result, for each."""
    times: list[float] = []

    class Clock(RunObserver):
        def outcome(self, outcome: RunOutcome, done: int, total: int) -> None:
            if not outcome.passed:
                raise RuntimeError(outcome.error or outcome.status)
            times.append(time.perf_counter())

    options = RunOptions(device="cpu", flags=_FLAGS, save=False, on=str(on) if on else "")
    run_dataset(root, options, Clock())
    return (times[-1] - times[0]) / (len(times) - 1)


def over_ssh() -> Pair:
    """The transport of an evaluation by ssh, over that by a local pipe, against 20 ms."""
    with _folder() as folder, running_sshd(folder) as server:
        root, program = _dataset(folder, _EVALUATIONS), fake_worker(folder)
        local = places_file(folder / "local.toml", {"p": program})
        far = folder / "far.toml"
        words = ", ".join(f'"{word}"' for word in server.launch)
        far.write_text(f'[[place]]\nname = "p"\nlaunch = [{words}]\npython = "{program}"\n')
        return interleave(
            lambda: _seconds_each(root, far),
            lambda: 0.02,
            3,
            over=lambda: _seconds_each(root, local),
        )


def one_place_here() -> Pair:
    """Evaluations at a place of a file that is this machine, against those without --on."""
    with _folder() as folder:
        root, on = _dataset(folder, _JUDGED), folder / "here.toml"
        on.write_text('[[place]]\nname = "here"\n')
        return interleave(lambda: _seconds_each(root, on), lambda: _seconds_each(root, None), 3)


def four_places() -> Pair:
    """24 compiles of a fixed time at four places, against one."""
    with _folder() as folder:
        program = script(folder, _COMPILER)
        places = [Place(f"p{number}", python=program) for number in range(4)]
        jobs = [CommandJob(f"job{number}", ("build",)) for number in range(24)]
        return interleave(
            lambda: spread(jobs, places, Project()).seconds,
            lambda: spread(jobs, places[:1], Project()).seconds,
            1,
        )


def two_cores() -> Pair:
    """A part of the set built at two places of one core each, against one place of one core."""
    with _folder() as folder:
        numbers = iter(range(100))
        return interleave(
            lambda: _built(folder / str(next(numbers)), "01"),
            lambda: _built(folder / str(next(numbers)), "0"),
            1,
        )


def _built(cache: Path, cores: str) -> float:
    variables = {"FICTL_WORKSPACE_BASE": str(cache)}
    places = [Place(f"core{core}", launch=("taskset", "-c", core)) for core in cores]
    places = [replace(place, variables=variables) for place in places]
    jobs = [
        CommandJob(op, ("build", op, "--device", "cuda", "--arch", "9.0a"), ("builds",))
        for op in _OPS
    ]
    done = spread(jobs, places, Project())
    if [result.code for result in done.results] != [0] * len(jobs):
        raise RuntimeError(f"not built: {done}")
    return done.seconds


def stopped() -> Pair:
    """From the stop of one of two workers to the end of the run, against the time that it has."""
    with _folder() as folder:
        slow = "def misbehave(*_): time.sleep(0.05)\n"
        on = places_file(folder / "two.toml", {"p": fake_worker(folder, slow)}, 2)
        root = _dataset(folder, 40)
        since: list[float] = []

        class Stop(RunObserver):
            def outcome(self, outcome: RunOutcome, done: int, total: int) -> None:
                if done == 1:
                    below = descendants(os.getpid())
                    worker = next(one for one in below if "script-" in words_of(one.pid))
                    worker.signal(signal.SIGSTOP)
                    since.append(time.perf_counter())

        timed(lambda: run_dataset(root, RunOptions(device="cpu", on=str(on)), Stop()))
        took = time.perf_counter() - since[0]
        limit = MISSED_HEARTBEATS * HEARTBEAT_SECONDS
        return Pair(took, limit, took / limit)
