"""The `device` fixture: one call for every schedule where it is emulated, one where it is not."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from fictl.testing.hooks import schedules

# An emulated device that runs nothing, and says under which schedule it would.
EMULATED = """
import pytest, fictl.jit.emulation

class Device:
    schedule = "as the settings say"

    def run_under(self, schedule):
        self.schedule = schedule

EMULATED = Device()
fictl.jit.emulation.emulated_device = lambda: EMULATED

def test_it(device):
    assert device == "cpu"
    print("ran under", EMULATED.schedule)
"""
ON_GPU = """
import fictl.toolchain
from fictl.arch import Arch
fictl.toolchain.visible_gpus = lambda: ({gpus})

def test_it(device):
    assert device == "cuda"
"""
GPU = "fictl.toolchain.Gpu(0, 'faked', Arch(9, 0)),"


@pytest.fixture
def ran(run_pytest):
    """The schedules that a test ran under, in order."""

    def run(*words: str, **changes: str) -> list[str]:
        done = run_pytest(EMULATED, "-s", *words, FICTL_DEVICE="emu", **changes)
        assert done.returncode == 0, done.stdout + done.stderr
        return re.findall(r"ran under (\S+)", done.stdout)

    return run


def test_an_emulated_test_runs_in_both_directions_and_at_random(ran) -> None:
    forward, reverse, random = ran()
    assert (forward, reverse) == ("forward", "reverse")
    assert re.fullmatch(r"random-\d+", random)


def test_a_seed_repeats_the_random_one(ran) -> None:
    assert ran("--fictl-seed=7")[2] == "random-7"


@pytest.mark.parametrize(
    ("case", "given", "seed"), [("", 3, 3), ("sum-8-float16", 3, 3), ("sum-8-float16,seed=7", 3, 7)]
)
def test_a_test_that_is_named_with_its_seed_repeats_the_random_one_too(
    case: str, given: int, seed: int
) -> None:
    option = SimpleNamespace(fictl_case=case, fictl_seed=given)
    schedules.configure(SimpleNamespace(option=option))
    assert option.fictl_seed == seed


def test_the_schedule_is_in_the_name_of_the_test(run_pytest) -> None:
    done = run_pytest(EMULATED, "--fictl-seed=7", FICTL_DEVICE="emu")
    for schedule in ("forward", "reverse", "random-7"):
        assert f"test_it[{schedule}] PASSED" in done.stdout


@pytest.mark.parametrize("schedule", ["reverse", "random-3"])
def test_the_environment_may_ask_for_one(ran, schedule: str) -> None:
    assert ran(FICTL_EMU_SCHEDULE=schedule) == [schedule]


def test_a_random_one_without_a_seed_is_the_same_for_all_tests_and_the_report(
    run_pytest, tmp_path: Path
) -> None:
    journal = tmp_path / "journal.jsonl"
    text = EMULATED + "def test_two(device): print('ran under', EMULATED.schedule)\n"
    words = ("-s", f"--fictl-journal={journal}")
    done = run_pytest(text, *words, FICTL_DEVICE="emu", FICTL_EMU_SCHEDULE="random")
    first, second = re.findall(r"ran under (\S+)", done.stdout)
    assert first == second
    assert json.loads(journal.read_text().splitlines()[0])["schedules"] == [first]


def test_check_mode_needs_one_schedule(ran) -> None:
    assert ran(FICTL_EMU_CHECK="1") == ["forward"]


def test_a_schedule_that_means_nothing_fails_by_name(run_pytest) -> None:
    done = run_pytest(EMULATED, FICTL_DEVICE="emu", FICTL_EMU_SCHEDULE="sideways")
    assert done.returncode != 0
    assert "FICTL_EMU_SCHEDULE='sideways' cannot be read" in done.stdout + done.stderr


def test_the_schedule_is_as_before_when_the_test_is_over(run_pytest) -> None:
    text = EMULATED + "def test_later(): assert EMULATED.schedule == 'as the settings say'\n"
    done = run_pytest(text, FICTL_DEVICE="emu")
    assert "4 passed" in done.stdout


def test_on_a_gpu_it_runs_once(run_pytest) -> None:
    done = run_pytest(ON_GPU.format(gpus=GPU), FICTL_DEVICE="cuda")
    assert "test_it PASSED" in done.stdout


def test_on_a_gpu_that_is_not_there_it_is_skipped(run_pytest) -> None:
    done = run_pytest(ON_GPU.format(gpus=""), FICTL_DEVICE="cuda")
    assert "1 skipped" in done.stdout
    assert "needs a GPU" in done.stdout


def test_a_fixture_of_that_name_in_a_foreign_project_is_left_alone(run_pytest) -> None:
    text = (
        "import pytest\n"
        "@pytest.fixture\ndef device(): return 'mine'\n"
        "def test_it(device): assert device == 'mine'\n"
    )
    done = run_pytest(text, FICTL_DEVICE="emu")
    assert "1 passed" in done.stdout
