"""Tests over several processes at once: who gets what, and what they find together."""

from __future__ import annotations

import os

import pytest

from fictl.arch import Arch
from fictl.errors import SetupError, UsageError
from fictl.project import find
from fictl.testing.runner import group
from fictl.testing.runner.group import TestGroup
from fictl.testing.runner.run_tests import run_tests
from fictl.testing.runner.spread import TestSlot, find_slots, parts
from fictl.toolchain import Gpu


@pytest.fixture
def two_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the driver shows them."""
    found = tuple(Gpu(index, "faked", Arch(9, 0)) for index in range(2))
    monkeypatch.setattr("fictl.toolchain.visible_gpus", lambda: found)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)


def seen(slots: tuple[TestSlot, ...]) -> list[str]:
    return [slot.variables["CUDA_VISIBLE_DEVICES"] for slot in slots]


def test_every_gpu_is_a_slot(two_gpus) -> None:
    assert seen(find_slots("auto", "cuda")) == ["0", "1"]


def test_the_gpus_are_those_that_the_user_chose(two_gpus, monkeypatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "GPU-abc, 5")
    assert seen(find_slots("auto", "cuda")) == ["GPU-abc", "5"]


@pytest.mark.parametrize(("asked", "slots"), [("1", 1), ("2", 2), ("9", 2)])
def test_there_are_no_more_slots_than_gpus(two_gpus, asked: str, slots: int) -> None:
    assert len(find_slots(asked, "cuda")) == slots


def test_without_a_gpu_there_is_nothing_to_spread_over() -> None:
    with pytest.raises(SetupError, match="none is visible"):
        find_slots("auto", "cuda")


def test_emulated_tests_share_the_cores(monkeypatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: range(8), raising=False)
    assert [dict(slot.variables) for slot in find_slots("2", "emu")] == [
        {"FICTL_EMU_THREADS": "4"}
    ] * 2
    assert [dict(slot.variables) for slot in find_slots("auto", "emu")] == [
        {"FICTL_EMU_THREADS": "1"}
    ] * 8


@pytest.mark.parametrize("asked", ["many", "0", "-1", "1.5"])
def test_a_number_that_means_nothing_is_refused(asked: str) -> None:
    with pytest.raises(UsageError, match="expected auto or a whole number from 1"):
        find_slots(asked, "emu")


@pytest.mark.parametrize(
    ("ops", "slots", "wanted"),
    [
        (3, 2, ["0/1"] * 3),  # an op each, one after another
        (1, 2, ["0/2", "1/2"]),
        (2, 3, ["0/2", "1/2"] * 2),
    ],
)
def test_an_op_is_divided_only_where_slots_would_be_idle(tiny, ops, slots, wanted) -> None:
    whole = TestGroup(find("twice") * ops)
    divided = parts(whole, slots)
    assert [part.arguments[-1] for part in divided] == [f"--fictl-part={each}" for each in wanted]


def test_every_test_runs_once_and_each_process_has_its_own_variables(tiny, monkeypatch) -> None:
    folders, said = find("twice"), list[str]()
    monkeypatch.setattr(group, "CONTRACT", folders[0].test)
    folders[0].test.write_text(
        "import os, pytest\n"
        "@pytest.mark.parametrize('n', range(5))\n"
        "def test_own(n): assert os.environ['PART'] == str(n % 2)\n"
    )
    slots = [TestSlot({"PART": "0"}), TestSlot({"PART": "1"})]
    report = run_tests(folders, said.append, slots=slots)
    # Which slot takes which part is chance: all are right, or all wrong.
    assert len({each.test for each in report.tests}) == len(report.tests) == 5
    assert {each.outcome for each in report.tests} in ({"passed"}, {"failed"})
    assert sum("in 0." in line for line in said) == 2, "each process's lines are in one piece"
