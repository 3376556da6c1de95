"""What holds for every command: the JSON contract, exit codes, errors, and what is not imported."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from importlib import import_module

import pytest

from fictl.cli import COMMANDS
from fictl.errors import FictlError, SetupError
from fictl.version import describe

_HEAVY = ("torch", "jinja2", "git", "pydantic", "tvm_ffi", "numpy")


def _paths(names: Iterable[str], *above: str) -> Iterator[tuple[str, ...]]:
    """Every command, those of groups with the group's name before theirs."""
    for name in names:
        module = import_module(".".join(("fictl.cli", *above, name)).replace("-", "_"))
        yield from _paths(getattr(module, "COMMANDS", ()), *above, name)
        yield (*above, name)


@pytest.mark.parametrize("words", [*_paths(COMMANDS)], ids=" ".join)
def test_a_failure_is_one_document_of_the_command(fictl, repo, words: tuple[str, ...]) -> None:
    answer = fictl(*words, "--no-such-option", "--json")
    command, error = " ".join(words), answer.document.pop("error")
    assert answer.document["schema"] == f"fictl.{'.'.join(words)}/1"
    assert answer.code == 2
    assert "--no-such-option" in error["message"]
    assert f"{command} --help" in error["hint"]
    assert answer.err == ""


@pytest.mark.parametrize(
    "words",
    [
        ("list",),
        ("list", "halve", "--arch", "8.0"),
        ("where", "halve"),
        ("where", "--include"),
        ("where", "--cmake"),
        ("check", "fictl/scale"),
        ("cache", "show"),
        ("cache", "clear"),
        ("cache", "gc"),
        ("cache", "verify"),
        ("cache", "path"),
        ("config", "show"),
    ],
    ids=" ".join,
)
def test_a_success_is_one_document_with_data(fictl, repo, words: tuple[str, ...]) -> None:
    answer = fictl(*words, "--json")
    assert list(answer.document) == ["schema", "ok", "data", "error"]
    assert answer.document["schema"].startswith(f"fictl.{words[0]}")
    assert (answer.document["ok"], answer.document["error"]) == (True, None)
    assert answer.document["data"] is not None
    assert (answer.code, answer.err) == (0, "")


@pytest.mark.parametrize("command", ["list", "where", "check", "build", "test"])
def test_an_unknown_op_is_a_usage_error(fictl, repo, command: str) -> None:
    answer = fictl(command, "halv", "--json")
    assert answer.code == 2
    assert answer.document["error"] == {
        "code": "usage",
        "message": "there is no op 'halv'",
        "hint": "did you mean 'halve'?",
    }


def test_an_unknown_command_is_a_usage_error_of_fictl_itself(fictl) -> None:
    answer = fictl("lst", "--json")
    assert (answer.code, answer.document["schema"]) == (2, "fictl/1")
    assert "did you mean 'list'" in answer.document["error"]["message"].lower()


def test_an_error_is_said_on_stderr_with_its_hint(fictl, repo) -> None:
    answer = fictl("where", "halv")
    assert answer.out == ""
    assert answer.err == "error: there is no op 'halv'\n  hint: did you mean 'halve'?\n"


@pytest.mark.parametrize(
    ("error", "code"),
    [(FictlError("no"), 1), (SetupError("no"), 3), (KeyboardInterrupt(), 130), (KeyError("x"), 1)],
)
def test_the_class_of_an_error_is_the_exit_code(fictl, monkeypatch, error, code: int) -> None:
    def fail(*_) -> None:
        raise error

    monkeypatch.setattr("fictl.project.select", fail)
    assert fictl("where", "scale").code == code


def test_a_bug_is_one_line_and_no_traceback(fictl, monkeypatch) -> None:
    monkeypatch.setattr("fictl.project.select", lambda *_: {}["x"])
    answer = fictl("where", "scale")
    assert answer.err.startswith("error: internal error: KeyError: 'x'\n")
    assert "Traceback" not in answer.err


def test_a_bug_shows_where_in_development_mode() -> None:
    program = (
        "import fictl.project, fictl.cli\n"
        "fictl.project.select = lambda *_: {}['x']\n"
        "fictl.cli.main(['where', 'scale'])"
    )
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "ignore", "-c", program], capture_output=True, text=True
    )
    assert "Traceback" in done.stderr


def test_a_reader_that_goes_away_is_no_error() -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([sys.executable, "-m", "fictl", "list"], stdout=write, stderr=-1)
    os.close(write)
    assert (done.returncode, done.stderr) == (1, b"")


def test_the_version_is_said(fictl) -> None:
    assert fictl("--version").out == f"{describe()}\n"


def test_help_names_every_command(fictl) -> None:
    answer = fictl()
    assert answer.code == 0
    assert all(f"\n  {command} " in answer.out for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(fictl, command: str) -> None:
    assert fictl(command, "--help").out.startswith(f"Usage: fictl {command} ")


@pytest.mark.parametrize("words", [["--help"], ["list"], ["list", "--json"], ["where", "scale"]])
def test_looking_imports_nothing_heavy(words: list[str]) -> None:
    program = (
        f"import sys, fictl.cli; fictl.cli.main({words})\n"
        f"sys.stderr.write(' '.join(sorted(set(sys.modules) & {set(_HEAVY)})))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
