"""Commands at places: what comes back, and what a killed worker or a place that cannot changes."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from fictl.child.family import descendants
from fictl.farm.place import Place
from fictl.farm.spread.command_doer import Project
from fictl.farm.spread.command_job import CommandJob, CommandResult
from fictl.farm.spread.observer import SpreadObserver
from fictl.farm.spread.spread import spread

from .scripts import script

QUICK = ("config", "show")


def jobs(count: int, argv: tuple[str, ...] = QUICK) -> list[CommandJob]:
    return [CommandJob(f"job{number}", argv) for number in range(count)]


def far(name: str, launch: tuple[str, ...] = ("env",)) -> Place:
    return Place(name, launch=launch)


def test_each_job_has_one_result_in_the_order_of_the_jobs() -> None:
    found = spread(jobs(5), [far("a"), far("b")], Project())
    assert [result.job.name for result in found.results] == [f"job{n}" for n in range(5)]
    assert all(result.data for result in found.results)
    assert (found.left_out, found.undone) == ((), ())


def test_the_longest_known_are_begun_first() -> None:
    began: list[str] = []

    class Watch(SpreadObserver):
        def done(self, result: CommandResult, done: int, total: int) -> None:
            began.append(result.job.name)

    seconds = (1.0, 0.0, 9.0)
    of_each = [CommandJob(f"{took:g} s", QUICK, seconds=took) for took in seconds]
    found = spread(of_each, [far("a")], Project(), observer=Watch())
    assert began == ["9 s", "1 s", "0 s"]
    assert [result.job.name for result in found.results] == ["1 s", "0 s", "9 s"]


def test_a_worker_that_is_killed_loses_no_job() -> None:
    class Killer(SpreadObserver):
        def done(self, result: CommandResult, done: int, total: int) -> None:
            if done == 1:
                os.kill(_workers()[0], signal.SIGKILL)

    found = spread(jobs(6), [far("a"), far("b")], Project(), observer=Killer())
    assert [result.code for result in found.results] == [0] * 6
    assert _workers() == []


def _workers() -> list[int]:
    return [
        process.pid
        for process in descendants(os.getpid())
        if b"fictl.farm.worker" in Path(f"/proc/{process.pid}/cmdline").read_bytes().split(b"\0")
    ]


def test_an_error_of_the_request_is_a_result() -> None:
    (result,) = spread(jobs(1, ("where", "nowhere")), [far("a")], Project()).results
    assert result.error is not None
    assert (result.code, result.data) == (2, None)
    assert "nowhere" in result.error.message


def test_what_no_place_can_do_names_the_reason_and_the_places() -> None:
    variables = {"FICTL_NVCC": "/nowhere/nvcc", "FICTL_DEVICE": "cuda"}
    one = CommandJob("twice", ("tune", "no-such-op", "--device", "cuda"))
    (result,) = spread([one], [far("a")], Project(variables=variables)).results
    assert result.error is not None
    assert result.code == 3
    assert "twice cannot be done there: tactics are timed on a GPU" in result.error.message
    assert "(tried at a)" in result.error.message


def test_a_place_with_other_shipped_ops_is_left_out(tmp_path: Path) -> None:
    code = """
import sys
from fictl.farm import facts, worker
facts.kernels_digest = lambda: "other"
sys.exit(worker.main())
"""
    other = Place("other", python=script(tmp_path, code))
    found = spread(jobs(2), [other, far("a")], Project())
    assert {result.place for result in found.results} == {"a"}
    assert "its shipped ops differ" in found.left_out[0]


@pytest.mark.parametrize("answer", ["not json", '{"schema": "other/1"}', ""])
def test_an_answer_that_is_none_is_no_result(tmp_path: Path, answer: str) -> None:
    code = f"""
import sys
from fictl.farm import worker
from fictl.farm.line import CommandDone
from fictl.farm.serve import commands
commands.CommandServer.run = lambda self, request: CommandDone(-9, {answer!r}, "the last line")
sys.exit(worker.main())
"""
    bad = Place("bad", python=script(tmp_path, code))
    found = spread(jobs(2), [bad], Project())
    assert found.results == ()
    assert len(found.undone) == 2
    assert "the command ended with SIGKILL: the last line" in found.left_out[0]
