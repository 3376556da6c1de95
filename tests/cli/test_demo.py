"""fictl demo: the environment, then each command as it is typed; the first that fails ends it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from fictl import process

VERBS = ("list", "where", "check", "build", "test")


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands that would run, none of which fails."""
    commands: list[list[str]] = []

    real = process.stream

    class Ended:
        code = 0

    def stream(argv, on_line, **options):
        if argv[0] != sys.executable:
            return real(argv, on_line, **options)
        commands.append(list(argv[1:]))
        on_line(f"output of {argv[3]}")
        return Ended

    monkeypatch.setattr("fictl.process.stream", stream)
    return commands


def test_each_command_is_shown_before_its_output(fictl, repo: Path, ran, use_nvcc) -> None:
    use_nvcc("12.8")
    answer = fictl("demo", "halve")
    assert answer.code == 0
    assert ran == [["-m", "fictl", verb, "halve"] for verb in VERBS]
    lines = answer.err.splitlines()
    for verb in VERBS:
        assert lines.index(f"$ fictl {verb} halve") + 1 == lines.index(f"output of {verb}")


def test_the_environment_comes_first(fictl, repo: Path, ran, use_nvcc, monkeypatch) -> None:
    use_nvcc("12.8")
    monkeypatch.setattr("fictl.toolchain.visible_gpus", tuple)
    compilers, gpu = fictl("demo", "halve").err.splitlines()[:2]
    assert compilers.startswith("compilers: 12.8 ")
    assert gpu == "GPU: none; tests run on the emulated device"


def test_without_a_name_it_is_a_shipped_op(fictl, repo: Path, ran) -> None:
    fictl("demo")
    (name,) = {words[3] for words in ran}
    assert name not in ("halve", "dense")


def test_the_first_command_that_fails_ends_it(fictl, tiny: Path) -> None:
    (tiny / "kernels/elementwise/twice/binding.cpp").unlink()
    answer = fictl("demo", "twice")
    assert answer.code == 1
    assert "$ fictl check twice" in answer.err
    assert "lacks binding.cpp" in answer.err
    assert "`fictl check twice` failed" in answer.err
    assert "$ fictl build" not in answer.err


@pytest.mark.needs_nvcc
def test_a_small_op_goes_all_the_way(fictl, tiny: Path, users_cache: None) -> None:
    answer = fictl("demo", "twice")
    assert answer.code == 0, answer.err
    assert "every rule holds" in answer.err
    assert "✓ elementwise.twice" in answer.err
    assert "✓ 5 passed · 3 schedules" in answer.err
