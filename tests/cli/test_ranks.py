"""`fictl bench --gpus` and `fictl test --gpus` on the emulated device, with gloo."""

from __future__ import annotations

from pathlib import Path

import pytest

pytestmark = pytest.mark.usefixtures("ranked", "users_cache")


def test_an_op_is_tested_and_benched_by_two_ranks(fictl) -> None:
    words = ("--gpus", "2", "--device", "emu", "--json")
    few = ("--rounds", "6", "--max-time", "1", "--case", "-1024-", "--baseline", "torch")
    answer = fictl("bench", "ordered_sum", *few, *words)
    ours, theirs = answer.document["data"]["rows"]
    assert (ours["side"], theirs["side"]) == ("fictl", "torch")
    assert (ours["ranks"], ours["collective"], ours["message"]) == (2, "all_reduce", 4096)
    assert ours["busbw"] == pytest.approx(ours["algbw"])
    assert ours["status"] == theirs["status"] == "emulated"
    tests = fictl("test", "ordered_sum", *words, "--schedule", "forward", "-k", "bits or nccl")
    report = tests.document["data"]
    assert (tests.code, report["passed"], report["failed"]) == (0, 1, []), tests.err
    assert report["skipped"] == {"needs a GPU": 1}


def test_a_plan_has_the_sizes_of_that_many_ranks(fictl) -> None:
    answer = fictl("bench", "gathering", "--gpus", "8", "--dry-run", "--json")
    (case,) = answer.document["data"]
    assert case["bytes"] == (1 + 8) * 256 * 4
    refused = fictl("bench", "gathering", "--dry-run", "--gpus", "0")
    assert refused.code == 2


def test_files_and_lists_of_several_counts_are_refused(fictl, ranked: Path) -> None:
    assert "--gpus is for ops of a project" in fictl("bench", "x.cu", "--gpus", "2").err
    (ranked / "list.txt").write_text("right --gpus 2\nright --gpus 4\n", encoding="utf-8")
    answer = fictl("bench", "--list", "list.txt")
    assert answer.code == 2
    assert "lines with --gpus 2 and 4 in one list" in answer.err
