"""The command line: one file a command; what they share is console.py and options.py."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any, NoReturn

import typer

from fictl.cli import console
from fictl.cli.settings_warning import warn_of_settings
from fictl.cli.strict import StrictCommand
from fictl.errors import FictlError, SetupError, Terminated, UsageError, of_os

COMMANDS = (
    "init",
    "new-op",
    "export-op",
    "rename-op",
    "remove-op",
    "list",
    "where",
    "check",
    "build",
    "test",
    "bench",
    "compare",
    "watch",
    "tune",
    "profile",
    "sanitize",
    "inspect",
    "trace",
    "solution",
    "dataset",
    "replay",
    "debug",
    "doctor",
    "cache",
    "config",
    "aot",
    "artifacts",
    "trust",
    "compat",
    "compile-commands",
    "skills",
    "demo",
)


def _group(names: Sequence[str], package: str, **options: Any) -> typer.Typer:
    """Each name is a module with a `command`, or a folder with COMMANDS of its own."""
    group = typer.Typer(pretty_exceptions_enable=False, **options)
    for name in names:
        module = import_module(f"{package}.{name.replace('-', '_')}")
        if hasattr(module, "command"):
            group.command(name, cls=StrictCommand)(module.command)
        else:
            inner = _group(module.COMMANDS, module.__name__, help=module.__doc__)
            group.add_typer(inner, name=name)
    return group


def application(names: Sequence[str] = COMMANDS) -> typer.Typer:
    """Build the command line. With the one command that will run it starts in half the time."""
    app = _group(names, __name__)
    app.callback()(_options)
    return app


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
        return _answer(application(path[:1] or COMMANDS), words, path)
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


def _answer(app: typer.Typer, words: Sequence[str], path: Sequence[str]) -> int:
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
    known: Sequence[str] = COMMANDS
    for word in (word for word in words if not word.startswith("-")):
        if word not in known:
            break
        path += (word,)
        module = import_module(".".join((__name__, *path)).replace("-", "_"))
        known = getattr(module, "COMMANDS", ())
    return path, bool(known)


def _run(app: typer.Typer, words: Sequence[str]) -> int:
    # Why: rich is half the time of --help, and its frames are noise on a pipe.
    app.rich_markup_mode = "rich" if sys.stdout.isatty() else None
    try:
        return app(words, prog_name="fictl", standalone_mode=False) or 0
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
    if isinstance(error, MemoryError):
        return SetupError("there is not enough memory for this", "ask for less, or end other work")
    return None


def _internal(error: Exception) -> FictlError:
    return FictlError(
        f"internal error: {type(error).__name__}: {error}",
        "this is a bug in fictl; PYTHONDEVMODE=1 shows where",
    )
