"""Groups and workspaces of real processes with gloo, on the emulated device."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from ..multi.test_launchers import environment

PROGRAM = Path(__file__).with_name("forked_comm.py")
CASES = ("pairs", "different", "missing", "foreign", "reading", "rebuilt", "forked", "late")


@pytest.fixture(scope="module")
def lines() -> dict[str, list[str]]:
    """Lines that the ranks of each case print, sorted."""
    done = subprocess.run(
        [sys.executable, str(PROGRAM), *CASES],
        env=environment(FICTL_RANK_TIMEOUT="1", TORCH_CPP_LOG_LEVEL="FATAL"),
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    every = [line.partition(" ") for line in sorted(done.stdout.splitlines())]
    return {case: [text for name, _, text in every if name == case] for case in (*CASES, "fictl:")}


def test_pairs_of_four_ranks_and_all_of_them(lines: dict[str, list[str]]) -> None:
    assert lines["pairs"] == [
        f"{rank} ({pair}, True, [0.0, 1.0, 2.0, 3.0], 'rank {rank % 2} of 2 ({name})')"
        for rank, (pair, name) in enumerate(
            [([0.0, 1.0], "ranks 0,1")] * 2 + [([2.0, 3.0], "ranks 2,3")] * 2
        )
    ]


def test_ranks_that_make_different_workspaces(lines: dict[str, list[str]]) -> None:
    texts = [
        "rank 1 makes a workspace filled with 1, rank 0 one filled with 0",
        "rank 1 makes a workspace for 'x1', rank 0 one for 'x0'",
        "rank 1 makes a workspace of bytes 1280, rank 0 one of bytes 1024",
    ]
    assert lines["different"] == [f"{rank} {text}" for rank in range(2) for text in texts]


def test_a_rank_that_does_not_come(lines: dict[str, list[str]]) -> None:
    (text,) = lines["missing"]
    assert text == "0 rank 1 did not come to exchange #0 of ranks 0,1 within 1 s; left: []"


def test_a_group_of_others(lines: dict[str, list[str]]) -> None:
    assert lines["foreign"] == [
        "0 this process, rank 0, is not in the group",
        "1 rank 0 of 1 (ranks 1)",
    ]


def test_memory_stays_as_long_as_a_peer_reads_it(lines: dict[str, list[str]]) -> None:
    assert lines["reading"] == ["0 True", "1 7"]


def test_a_workspace_made_anew(lines: dict[str, list[str]]) -> None:
    assert lines["rebuilt"] == [f"{rank} (7, [0.0, 0.0, 1.0, 1.0])" for rank in range(2)]


def test_a_fork_leaves_it_to_its_parent(lines: dict[str, list[str]]) -> None:
    why = "cannot be used: this process was forked from the one that made it"
    for rank in range(2):
        assert f"{rank} [0, 1]" in lines["forked"]
        assert f"{rank} the workspace of rank {rank} of 2 (ranks 0,1) {why}" in lines["forked"]


def test_a_kernel_that_waits_too_long_names_the_rank_and_where_it_is(
    lines: dict[str, list[str]],
) -> None:
    (text,) = [line for line in lines["fictl:"] if " waited " in line]
    waited = r"rank 0 of ranks 0,1: block \d+ waited 3 s for rank 1, which is at forked"
    assert re.match(waited + r".*; it came to \d+ of \d+$", text)
