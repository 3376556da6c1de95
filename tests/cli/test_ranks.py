"""`fictl bench`, `test` and `profile` with --gpus on the emulated device, with gloo."""

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


def test_an_op_is_profiled_by_two_ranks(fictl) -> None:
    words = ("--gpus", "2", "--device", "emu", "--case", "-1024-", "--calls", "3", "--out", "kept")
    answer = fictl("profile", "ordered_sum", *words)
    lines = answer.out.splitlines()
    assert (answer.code, lines[0]) == (0, "  2 ranks · host · 3 calls"), answer.err
    head = "rank time min max kernels starts waits slowest starts last"
    assert " ".join(lines[3].split()) == head
    assert [line.split()[0] for line in lines[4:6]] == ["0", "1"]
    assert "emulated: these are times of the host, not of a GPU" in answer.out
    (trace,) = Path("kept").glob("*.json")
    assert trace.name == "ordered_sum-1024-float32.2-gpus.trace.json"
    assert f"wrote kept/{trace.name}, for ui.perfetto.dev" in answer.out


def test_a_profile_of_a_rank_that_fails_is_an_error_in_its_name(fictl) -> None:
    answer = fictl("profile", "failing", "--gpus", "2", "--device", "emu", "--json")
    assert (answer.code, answer.document["data"]) == (1, None)
    assert answer.document["error"]["message"] == "rank 1: ValueError: planted"


def test_a_planned_profile_has_the_sizes_of_that_many_ranks(fictl) -> None:
    words = ("gathering", "--gpus", "8", "--dry-run")
    (case,) = fictl("profile", *words, "--json").document["data"]
    assert (case["case"], case["tool"], case["ranks"]) == ("gathering-8x256-float32", "host", 8)
    assert "host, 8 ranks" in fictl("profile", *words).out
    assert not Path("profiles").exists()


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("right", "--tool", "ncu"), "leave out --tool, or --gpus to look at the kernel of one"),
        (("right", "--tool", "nsys"), "nsys profile fictl bench OP --gpus N"),
        (("right", "--tool", "events"), "--tool events looks at one process, not at ranks"),
        (("right", "--set", "full"), "--set is for --tool ncu"),
        (("right", "--gpus", "0"), "'0' is not a whole number from 1"),
        (("planted", "--trace", "one.json"), "--trace names one file"),
    ],
)
def test_profiles_that_ranks_have_not_are_refused(fictl, words, why) -> None:
    answer = fictl("profile", "--gpus", "2", "--dry-run", *words)
    assert answer.code == 2
    assert why in answer.err


def test_files_and_lists_of_several_counts_are_refused(fictl, ranked: Path) -> None:
    assert "--gpus is for ops of a project" in fictl("bench", "x.cu", "--gpus", "2").err
    (ranked / "list.txt").write_text("right --gpus 2\nright --gpus 4\n", encoding="utf-8")
    answer = fictl("bench", "--list", "list.txt")
    assert answer.code == 2
    assert "lines with --gpus 2 and 4 in one list" in answer.err
