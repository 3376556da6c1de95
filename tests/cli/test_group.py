"""Modules that are imported to run one command, to show help, to complete a word: no other command's."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from fictl.cli import COMMANDS, application

# Runs each command line in a fork of one process that has imported what all of them need.
_FORKS = """
import json, os, sys
import fictl.cli
begun = set(sys.modules)
for words in json.loads(sys.argv[1]):
    sys.stdout.flush()
    if not os.fork():
        out, sys.stdout = sys.stdout, open(os.devnull, "w")
        code = fictl.cli.main(words)
        loaded = sorted(name for name in set(sys.modules) - begun if hasattr(sys.modules[name], "command"))
        out.write(json.dumps([" ".join(words), code, [n for n in loaded if n.startswith("fictl.cli.")]]) + "\\n")
        out.flush()
        os._exit(0)
    os.wait()
"""
# Whoever builds shows plans of builds.
_USED_BY_OTHERS = {"fictl.cli.build"}
# Beyond those of `import typer`, of the standard library and fictl together; 40 is what it takes.
_MODULES = 45


def _paths() -> list[tuple[str, ...]]:
    found = []
    for name, command in application().commands.items():
        inner = getattr(command, "commands", None)
        found += [(name, each) for each in inner] if inner else [(name,)]
    return found


def _python(code: str, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, **environment}
    return subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, env=env
    )


def test_help_of_a_command_imports_that_command_alone() -> None:
    lines = [[*path, "--help"] for path in _paths()]
    answers = [json.loads(line) for line in _python(_FORKS, json.dumps(lines)).stdout.splitlines()]
    assert len(answers) == len(lines)
    for path, (words, code, loaded) in zip(_paths(), answers, strict=True):
        assert (words, code) == (f"{' '.join(path)} --help", 0)
        own = ".".join(("fictl.cli", *path)).replace("-", "_")
        assert {own} <= {*loaded} <= {own, *_USED_BY_OTHERS}, words


_COUNTED = (
    "import sys, typer; begun = set(sys.modules)\n"
    "import atexit, json; sys.argv = ['fictl', *json.loads(sys.argv[1])]\n"
    "atexit.register(lambda: sys.stderr.write(' '.join(set(sys.modules) - begun)))\n"
    "from fictl.cli import main\n"
    "sys.exit(main())"
)
COMPLETE = {"_FICTL_COMPLETE": "complete_bash"}


@pytest.mark.parametrize(
    ("words", "environment", "commands"),
    [
        (["--help"], {}, set()),
        ([], {}, set()),
        (["cache", "path"], {}, {"fictl.cli.cache.path"}),
        ([], {**COMPLETE, "COMP_WORDS": "fictl ", "COMP_CWORD": "1"}, set()),
        ([], {**COMPLETE, "COMP_WORDS": "fictl tes", "COMP_CWORD": "1"}, set()),
        ([], {**COMPLETE, "COMP_WORDS": "fictl cache ", "COMP_CWORD": "2"}, set()),
        ([], {**COMPLETE, "COMP_WORDS": "fictl test --", "COMP_CWORD": "2"}, {"fictl.cli.test"}),
    ],
    ids=["help", "nothing", "cache path", "all", "begun", "cache", "options"],
)
def test_few_modules_are_imported_however_many_commands_there_are(
    words: list[str], environment: dict[str, str], commands: set[str]
) -> None:
    done = _python(_COUNTED, json.dumps(words), **environment)
    assert done.returncode == 0
    assert done.stdout
    imported = {*done.stderr.split()}
    every = {".".join(("fictl.cli", *path)).replace("-", "_") for path in _paths()}
    assert imported & every == commands
    assert len(imported) < _MODULES
    assert "rich" not in imported


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("fictl re", ["rename-op", "remove-op", "replay"]),
        ("fictl cache p", ["push", "pull", "path"]),
        ("fictl test --req", ["--require-arch"]),
        ("fictl new-op x --kind plan", ["plan-run"]),
    ],
)
def test_a_word_is_completed(typed: str, offered: list[str]) -> None:
    words = {"COMP_WORDS": typed, "COMP_CWORD": str(len(typed.split()) - 1)}
    done = _python("import sys; from fictl.cli import main; sys.exit(main())", **COMPLETE, **words)
    assert done.stdout.split() == offered


def test_zsh_shows_the_line_of_a_command() -> None:
    words = {"_FICTL_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": "fictl tun"}
    done = _python("import sys; from fictl.cli import main; sys.exit(main())", **words)
    assert f'"tune":"{COMMANDS["tune"]}"' in done.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("tset",), "No such command 'tset'. Did you mean 'test'"),
        (("cache", "shows"), "No such command 'shows'. Did you mean 'show'"),
        (("test", "--requirearch"), "No such option: --requirearch"),
    ],
)
def test_what_is_mistyped_gets_a_suggestion(fictl, words: tuple[str, ...], message: str) -> None:
    answer = fictl(*words)
    assert answer.code == 2
    assert message in answer.err


def test_a_group_alone_is_its_help(fictl) -> None:
    assert fictl("cache").out == fictl("cache", "--help").out
    assert "  gc       Remove what is old, or over a size\n" in fictl("cache").out
