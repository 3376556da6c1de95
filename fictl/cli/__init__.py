"""The command line: one file a command; what they share is console.py and options.py."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated

import typer

from fictl.cli import console
from fictl.errors import FictlError, UsageError

COMMANDS = ("list", "where", "check", "build", "test", "demo")

app = typer.Typer(name="fictl", pretty_exceptions_enable=False)
for _name in COMMANDS:
    app.command(_name)(import_module(f"fictl.cli.{_name}").command)


def _version(wanted: bool) -> None:
    if wanted:
        from fictl.version import describe

        sys.stdout.write(describe() + "\n")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """The workbench of people who write CUDA kernels for LLM inference."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; its exit code. Errors are said here, once: no traceback reaches a user."""
    words = sys.argv[1:] if argv is None else argv
    command = next((word for word in words if word in COMMANDS), "")
    console.begin(f"fictl.{command}".rstrip("."), "--json" in words)
    try:
        return _run(words or ["--help"])
    except FictlError as error:
        return console.fail(error)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Why: the interpreter would flush stdout once more at exit, and complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        if sys.flags.dev_mode:
            raise
        return console.fail(_internal(error))


def _run(words: Sequence[str]) -> int:
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


def _internal(error: Exception) -> FictlError:
    return FictlError(
        f"internal error: {type(error).__name__}: {error}",
        "this is a bug in fictl; PYTHONDEVMODE=1 shows where",
    )
