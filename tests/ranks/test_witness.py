"""Who keeps the others waiting, as a witness finds it out between real processes with gloo."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ..multi.test_launchers import environment

PROGRAM = Path(__file__).with_name("forked_ranks.py")


@pytest.fixture(scope="module")
def sentences() -> dict[str, dict[int, str]]:
    """The first line that each rank of each case says."""
    cases = ["silent", "another", "killed", "server_killed", "third_of_three", "own_error"]
    cases += ["killed_early", "killed_at_once"]
    variables = {"FICTL_RANK_TIMEOUT": "1", "TORCH_CPP_LOG_LEVEL": "FATAL"}
    done = subprocess.run(
        [sys.executable, str(PROGRAM), *cases],
        env=environment(**variables),
        capture_output=True,
        text=True,
        timeout=240,
    )
    lines = [line.split(" ", 2) for line in done.stdout.splitlines()]
    assert {case for case, _, _ in lines} == {*cases}, done.stdout + done.stderr
    return {
        case: {int(rank): text for name, rank, text in reversed(lines) if name == case}
        for case in cases
    }


def test_a_rank_that_does_something_else(sentences: dict[str, dict[int, str]]) -> None:
    assert sentences["silent"][0] == (
        "rank 1 did not call all_reduce #2: its last call was all_reduce #1, "
        "it is at forked_ranks.py:33"
    )


def test_a_rank_that_calls_another_collective(sentences: dict[str, dict[int, str]]) -> None:
    """Gloo may notice, as here: the witness of the other, or the error's explanation, says it."""
    assert {*sentences["another"].values()} == {
        "rank 1 called broadcast #2 (forked_ranks.py:41) where rank 0 called all_reduce #2 "
        "(forked_ranks.py:39)"
    }


def test_a_rank_that_dies(sentences: dict[str, dict[int, str]]) -> None:
    assert sentences["killed"] == {0: "rank 1 did not call broadcast #2: its process has ended"}


def test_the_rank_that_serves_the_store_dies(sentences: dict[str, dict[int, str]]) -> None:
    assert sentences["server_killed"] == {
        1: "rank 0 did not call all_reduce #1: its process has ended"
    }


def test_a_rank_that_dies_before_all_have_met(sentences: dict[str, dict[int, str]]) -> None:
    assert sentences["killed_early"] == {1: "rank 0 ended before all ranks had opened their group"}


def test_the_rank_that_serves_the_store_dies_before_it_comes(
    sentences: dict[str, dict[int, str]],
) -> None:
    """That it is no timeout is known at once."""
    said = "the process that serves the ranks' store ended before all ranks had come here"
    assert sentences["killed_at_once"] == {1: said}


def test_all_that_wait_say_the_same(sentences: dict[str, dict[int, str]]) -> None:
    sentence = "rank 2 did not call all_reduce #4: its last call was all_reduce #3, it is at"
    assert {*sentences["third_of_three"].values()} == {f"{sentence} forked_ranks.py:61"}


def test_an_error_of_the_test_itself_is_left_alone(sentences: dict[str, dict[int, str]]) -> None:
    assert sentences["own_error"] == dict.fromkeys((0, 1), "not explained: size mismatch")
