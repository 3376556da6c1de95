"""fictl mcp: the commands as tools of a coding agent, over the Model Context Protocol."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from fictl.cli import console
from fictl.cli.numbers import seconds
from fictl.cli.options import Json
from fictl.errors import NotInstalled, UsageError

EXAMPLES = {
    "fictl mcp": "an agent starts this: claude mcp add fictl -- fictl mcp",
    "fictl mcp --project ~/my_kernels": "for an agent that starts elsewhere",
    "fictl mcp --list --json": "the tools, with the schemas of their arguments",
}


def command(
    project: Annotated[
        Path,
        typer.Option(
            "--project",
            metavar="DIR",
            help="Project that the tools work in; they refuse files outside of it.",
        ),
    ] = Path(),
    timeout: Annotated[
        float, seconds("--timeout", help="Time limit of one call, in seconds.")
    ] = 1800.0,
    list: Annotated[
        bool, typer.Option("--list", help="List the tools, and serve none.", show_default=False)
    ] = False,
    json: Json = False,
) -> None:
    """Serve new-op, test, sanitize, bench, inspect and others as tools of a coding agent.

    The agent starts this and speaks the Model Context Protocol with it on stdin and stdout. A tool runs
    its command in a process of its own, and answers with the document of --json.
    """
    if json and not list:
        raise UsageError("--json goes with --list", "as a server it speaks its protocol on stdout")
    with _inside(project) as folder:
        if list:
            _list()
            return
        if find_spec("mcp") is None:
            raise NotInstalled("fictl mcp needs the package mcp", "pip install 'fictl[mcp]'")
        from fictl.cli._mcp.server import serve

        serve(folder, timeout)


@contextmanager
def _inside(project: Path) -> Iterator[Path]:
    """Enter the project's folder: kinds of ops, and what the tools find, are those of the project."""
    folder, here = _folder(project), os.getcwd()
    os.chdir(folder)
    try:
        yield folder
    finally:
        os.chdir(here)


def _folder(project: Path) -> Path:
    folder = Path(os.path.expanduser(project)).absolute()
    if not os.path.isdir(folder):
        raise UsageError(f"--project {project} is not a folder", "name the folder of a project")
    return folder


def _list() -> None:
    from fictl.cli._mcp.tools import TOOLS

    data = [
        {"name": tool.name, "description": tool.description, "input_schema": tool.schema()}
        for tool in TOOLS.values()
    ]
    rows = [(tool.name, f"fictl {' '.join(tool.path)}") for tool in TOOLS.values()]
    console.show(console.Result(data, console.Table(("tool", "runs"), rows)))
