"""What a pytest writes into its journal, seen from outside."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fictl.report.outcome import TestOutcome
from fictl.testing.runner.journal import Journal

HEAD = "import pytest\n"


@pytest.fixture
def journal(run_pytest, tmp_path: Path) -> Callable[..., Journal]:
    """Of a pytest over `text`; another one goes on with it."""

    def run(text: str, *words: str, **options) -> Journal:
        path = tmp_path / "journal"
        run_pytest(HEAD + text, f"--fictl-journal={path}", *words, **options)
        read = Journal(path)
        read.read()
        return read

    return run


def only(journal: Journal) -> TestOutcome:
    (outcome,) = journal.outcomes.values()
    return outcome


@pytest.mark.parametrize(
    ("text", "outcome", "reason"),
    [
        ("def test_it(): pass", "passed", ""),
        ("def test_it(): assert 1 == 2", "failed", "assert 1 == 2"),
        ("def test_it(): raise OSError('no\\nroom')", "failed", "OSError: no"),
        ("def test_it(): pytest.skip('the weather')", "skipped", "the weather"),
        ("pytest.skip('no such library', allow_module_level=True)", "skipped", "no such library"),
        ("def test_it(): raise MemoryError('9 TB')", "out of memory", "MemoryError: 9 TB"),
        ("@pytest.mark.xfail(strict=True)\ndef test_it(): assert 0", "passed", ""),
        ("@pytest.mark.xfail(strict=True)\ndef test_it(): pass", "failed", "[XPASS(strict)]"),
        ("def test_it(nowhere): pass", "failed", "fixture 'nowhere' not found"),
    ],
)
def test_how_a_test_ended_and_why_in_a_line(journal, text, outcome: str, reason: str) -> None:
    found = only(journal(text + "\n"))
    assert found.outcome == outcome
    assert reason in found.reason


def test_what_fails_after_a_test_that_passed_fails_it(journal) -> None:
    text = "@pytest.fixture\ndef room():\n    yield\n    assert 0\ndef test_it(room): pass\n"
    assert only(journal(text)).outcome == "failed"


def test_a_journal_that_has_a_test_leaves_it_out(journal) -> None:
    first = journal("def test_a(): pass\ndef test_b(): pass\n", "-k", "test_a")
    assert [*first.outcomes] == ["test_it.py::test_a"]
    second = journal("def test_a(): assert 0\ndef test_b(): pass\n")
    assert {each.outcome for each in second.outcomes.values()} == {"passed"}
    assert second.total == 2


def test_a_part_is_every_so_many_tests(journal) -> None:
    text = "@pytest.mark.parametrize('n', range(5))\ndef test_it(n): pass\n"
    assert [name[-2] for name in journal(text, "--fictl-part=1/2").outcomes] == ["1", "3"]


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("def test_own(): assert 0", "fictl test twice --seed 7 -k test_own"),
        (
            "@pytest.mark.parametrize('n', [1.5])\ndef test_own(n): assert 0",
            "fictl test twice --seed 7 -k 'test_own[1.5]'",
        ),
        # What is no word of -k stays out.
        (
            "@pytest.mark.parametrize('n', ['a b=c'])\ndef test_own(n): assert 0",
            "fictl test twice --seed 7 -k test_own",
        ),
    ],
)
def test_a_test_of_an_op_has_a_command_that_repeats_it(
    tiny: Path, tmp_path: Path, text: str, command: str
) -> None:
    own = tiny / "tests" / "kernels" / "elementwise" / "test_twice.py"
    own.write_text(f"{HEAD}{text}\n")
    assert _command_of(own, tmp_path, tiny) == command


def test_a_generated_test_is_repeated_by_its_name_device_and_order(
    journal, tiny: Path, users_cache
) -> None:
    text = "def test_it(fictl_suite, fictl_case, device): assert device != 'cpu'\n"
    words = ("--fictl-op=twice", "--fictl-seed=7", "-k", "contiguous and reverse")
    made = journal(text, *words, cwd=tiny, FICTL_DEVICE="emu")
    assert {each.command for each in made.outcomes.values()} >= {
        "fictl test twice --device emu --schedule reverse --case twice-1-int32,contiguous,seed=7"
    }


def _command_of(own: Path, tmp_path: Path, project: Path) -> str:
    import subprocess
    import sys

    path = tmp_path / "journal"
    argv = [sys.executable, "-m", "pytest", "-p", "fictl.testing.plugin", "--fictl-op=twice"]
    more = ["-p", "no:cacheprovider", f"--fictl-journal={path}", "--fictl-seed=7", str(own)]
    subprocess.run([*argv, *more], cwd=project, capture_output=True)
    made = Journal(path)
    made.read()
    return only(made).command
