"""A process that stands by: it does what it is told, dies when it should, and leaves nothing."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from fictl.paths import same_packages
from fictl.watch.answer import Answer
from fictl.watch.step_process import Step, StepProcess


@pytest.fixture
def child() -> Iterator[StepProcess]:
    found = StepProcess()
    yield found
    found.stop()


def told(child: StepProcess, folder: Path, *words: str) -> Answer:
    ended = threading.Event()
    child.begin(Step("step", words), folder, ended.set)
    assert ended.wait(30)
    return child.answer()


def test_it_answers_with_the_document_of_the_command(child: StepProcess, tiny: Path) -> None:
    answer = told(child, tiny, "list", "--json")
    assert (answer.code, answer.error) == (0, None)
    assert "twice" in str(answer.data)


def test_one_that_is_stopped_does_not_tell(child: StepProcess) -> None:
    ended = threading.Event()
    child.begin(Step("step", ("list", "--json")), Path.cwd(), ended.set)
    child.stop()
    assert not ended.is_set()


def test_a_folder_that_is_gone_is_said(child: StepProcess, tmp_path: Path) -> None:
    answer = told(child, tmp_path / "gone", "list", "--json")
    assert answer.error is not None
    assert "No such file or directory" in answer.error.hint


def test_it_ends_with_who_waits_for_it() -> None:
    # Its environment is that of children everywhere; nothing is ever written to its stdin.
    done = subprocess.run(
        [sys.executable, "-m", "fictl.watch.standby"],
        stdin=subprocess.DEVNULL,
        env=same_packages(),
        timeout=30,
    )
    assert done.returncode == 0
