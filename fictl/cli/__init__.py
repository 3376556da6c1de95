"""The command line: one file a command; what they share is console.py and options.py."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Collection, Sequence
from importlib import import_module
from typing import Annotated, NoReturn

import typer

from fictl.cli import console
from fictl.cli.commands import COMMANDS, SECTIONS
from fictl.cli.group import CommandGroup, Commands
from fictl.cli.settings_warning import warn_of_settings
from fictl.errors import FictlError, SetupError, Terminated, UsageError, of_os


def application() -> CommandGroup:
    """Return the command line; a command is imported when it is named."""
    app = typer.Typer(cls=CommandGroup, rich_markup_mode=None)
    app.callback()(_options)
    group = typer.main.get_command(app)
    assert isinstance(group, CommandGroup)
    group.commands = Commands(__name__, SECTIONS)
    return group


def _version(wanted: bool) -> None:
    if wanted:
        from fictl.version import describe

        sys.stdout.write(describe() + "\n")
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """The workbench of people who write CUDA kernels for LLM inference."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; its exit code. Errors are said here, once: no traceback reaches a user."""
    if argv is None:
        # As Ctrl-C does: compilers end with the program, and nothing half done stays.
        signal.signal(signal.SIGTERM, _terminated)
        # Most commands end before a collection pays; each one would visit every imported module.
        gc.freeze()
        gc.set_threshold(50_000)
        # What a terminal cannot show, as a half of a character in a file's name, is escaped.
        sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    words = sys.argv[1:] if argv is None else argv
    path, is_group = _path(words)
    console.begin(".".join(("fictl", *path)), "--json" in words)
    try:
        words = [*words, "--help"] if is_group and len(words) == len(path) else words
        return _answer(application(), words, path)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Why: the interpreter would flush stdout once more at exit, and complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        known_error = _said(error)
        if known_error is None and sys.flags.dev_mode:
            raise
        return console.fail(_folder_is_gone() or known_error or _internal(error))


def _answer(app: CommandGroup, words: Sequence[str], path: Sequence[str]) -> int:
    error: FictlError | None = None
    try:
        code = _run(app, words)
    except FictlError as caught:
        error, code = caught, console.fail(caught)
    warn_of_settings(path, error)
    return code


def _terminated(number: int, frame: object) -> NoReturn:
    raise Terminated(128 + number)


def _path(words: Sequence[str]) -> tuple[tuple[str, ...], bool]:
    """The command that runs, as in (cache, show), and whether it is a group; it is not run."""
    path: tuple[str, ...] = ()
    known: Collection[str] = COMMANDS
    for word in (word for word in words if not word.startswith("-")):
        if word not in known:
            break
        path += (word,)
        module = import_module(".".join((__name__, *path)).replace("-", "_"))
        known = getattr(module, "COMMANDS", ())
    return path, bool(known)


def _run(app: CommandGroup, words: Sequence[str]) -> int:
    try:
        return app.main([*words], prog_name="fictl", standalone_mode=False) or 0
    except typer.Abort:
        return 130
    except Exception as error:
        # Typer's own errors: the class they share has moved from release to release.
        if not hasattr(error, "format_message"):
            raise
        context = getattr(error, "ctx", None)
        path = context.command_path if context else "fictl"
        raise UsageError(error.format_message(), f"{path} --help shows what it takes") from error


def _folder_is_gone() -> FictlError | None:
    """Whatever looks around then fails, each in its own way."""
    try:
        os.getcwd()
    except OSError as error:
        return SetupError(f"the working folder is gone: {error.strerror}", "cd to another one")
    return None


def _said(error: Exception) -> FictlError | None:
    """The error to show for a full machine or for input without bounds; None for a bug."""
    if isinstance(error, OSError):
        return of_os(error)
    if isinstance(error, RecursionError):
        return UsageError("something that was given is nested too deeply", "nest it less")
    if isinstance(error, ValueError) and "embedded null" in str(error):
        return UsageError("a name of a file has a null character in it", "leave it out")
    if isinstance(error, MemoryError):
        return SetupError("there is not enough memory for this", "ask for less, or end other work")
    return None


def _internal(error: Exception) -> FictlError:
    bug = FictlError(
        f"internal error: {type(error).__name__}: {error}",
        "this is a bug in fictl; PYTHONDEVMODE=1 shows where",
    )
    bug.code = "internal"
    return bug
