"""Tests that run out of memory, under plain pytest: skipped with their reason, below a project."""

from __future__ import annotations

import re

import pytest

ERRORS = {
    "MemoryError": "MemoryError('9 TB')",
    "of a GPU": "torch.cuda.OutOfMemoryError('CUDA out of memory. Tried to allocate 9 GiB')",
    "of the host": "RuntimeError('DefaultCPUAllocator: not enough memory: you tried 9')",
}
TEST = "import torch\ndef test_it(): raise {error}\ndef test_other(): pass\n"
FIXTURE = (
    "import pytest, torch\n@pytest.fixture(scope='module')\ndef large(): raise {error}\n"
    "def test_it(large): pass\ndef test_again(large): pass\ndef test_other(): pass\n"
)


@pytest.fixture
def below(tmp_path):
    """Make the folder of run_pytest's file a project, or one of somebody else's."""

    def make(name: str, text: str) -> None:
        (tmp_path / "suite").mkdir(exist_ok=True)
        (tmp_path / "suite" / name).write_text(text, encoding="utf-8")

    return make


@pytest.mark.parametrize("error", ERRORS.values(), ids=ERRORS)
def test_a_test_is_skipped_and_says_what_was_asked_for(run_pytest, below, error: str) -> None:
    below("fictl.toml", 'name = "suite_of_tests"\n')
    done = run_pytest(TEST.format(error=error), COLUMNS="400")
    assert done.returncode == 0
    assert "1 passed, 1 skipped" in done.stdout
    assert re.search(r"^SKIPPED .*out of memory: .*9", done.stdout, re.MULTILINE)


def test_the_tests_of_a_fixture_are_skipped(run_pytest, below) -> None:
    below("pyproject.toml", '[tool.fictl]\nname = "suite_of_tests"\n')
    done = run_pytest(FIXTURE.format(error=ERRORS["MemoryError"]))
    assert done.returncode == 0
    assert "1 passed, 2 skipped" in done.stdout


def test_memory_that_is_really_not_there(run_pytest, below) -> None:
    below("fictl.toml", 'name = "suite_of_tests"\n')
    done = run_pytest("import torch\ndef test_it(): torch.empty(1 << 52)\n")
    assert done.returncode == 0
    assert "1 skipped" in done.stdout


def test_another_error_fails_as_before(run_pytest, below) -> None:
    below("fictl.toml", 'name = "suite_of_tests"\n')
    done = run_pytest(TEST.format(error="RuntimeError('CUDA error: illegal address')"))
    assert done.returncode == 1
    assert "1 failed, 1 passed" in done.stdout


def test_the_plugin_is_told_whose_tests_it_acts_on() -> None:
    from types import SimpleNamespace

    from fictl.testing.hooks.memory import UsedUpMemory

    def run(is_ours: bool) -> list[BaseException]:
        forced: list[BaseException] = []
        error = (MemoryError, MemoryError("9 TB"), None)
        outcome = SimpleNamespace(excinfo=error, force_exception=forced.append)
        steps = UsedUpMemory(lambda item: is_ours).pytest_runtest_call(None)
        next(steps)
        with pytest.raises(StopIteration):
            steps.send(outcome)
        return forced

    assert [str(each) for each in run(True)] == ["out of memory: 9 TB"]
    assert run(False) == []
