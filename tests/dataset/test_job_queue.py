"""Which place gets a job, and when there is none any more."""

from __future__ import annotations

import threading
from dataclasses import replace

from fictl.dataset.job_queue import JobQueue
from fictl.dataset.run_plan import EvaluationJob
from fictl.judge.config import EvalConfig

from .samples import definition, solution


def job(name: str, *losses: str) -> EvaluationJob:
    config = EvalConfig(device="cpu")
    return EvaluationJob(definition("d"), solution(name, "d"), config, 1, losses=losses)


def queue_of(*jobs: EvaluationJob, places: str = "a b") -> JobQueue:
    queue = JobQueue(len(jobs), places.split())
    for each in jobs:
        queue.add(each)
    return queue


def test_a_lost_job_is_first_in_line_for_another_place() -> None:
    lost = job("lost", "a")
    queue = queue_of(job("next"), lost)
    queue.give_back(queue.take("b") or lost)
    assert (queue.take("a") or lost).solution.name == "next"
    queue.give_back(lost)
    assert queue.take("b") is lost


def test_a_job_that_every_place_lost_goes_round_again() -> None:
    lost = job("lost", "a", "b", "a")
    assert queue_of(lost).take("a") is lost


def test_a_place_that_waits_for_its_gpu_is_not_waited_for() -> None:
    lost = job("lost", "a")
    queue = queue_of(lost)
    queue.step_aside("b")
    assert queue.take("a") is lost
    queue.enter("b")
    queue.give_back(lost)
    assert queue.take("b") is lost


def test_a_place_waits_for_what_another_may_lose() -> None:
    queue = queue_of(job("only"))
    taken = queue.take("a")
    assert taken is not None
    got: list[EvaluationJob | None] = []
    waiting = threading.Thread(target=lambda: got.append(queue.take("b")))
    waiting.start()
    lost = replace(taken, losses=("a",))
    queue.give_back(lost)
    waiting.join(30)
    assert got == [lost]
    queue.end()
    assert queue.take("a") is None
    assert queue.is_over


def test_without_places_nobody_waits() -> None:
    queue = queue_of(job("only", "a"))
    queue.leave("b")
    assert not queue.is_over
    queue.leave("a")
    assert queue.is_over
    assert queue.take("a") is None
