"""fictl check: the law of an op folder."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fictl.cli import console
from fictl.cli.options import Json, Ops
from fictl.cli.stub import refresh_stub

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.project.check import Problem


EXAMPLES = {
    "fictl check": "every op of the project here",
    "fictl check swish --json": "one op, for a program",
}


def command(ops: Ops = None, json: Json = False) -> None:
    """Check the layout rules of the named ops, or of the whole project here.

    A file stands for the project that it lies in, so that pre-commit may pass what changed. The
    stub of the project's ops, for editors and type checkers, is made anew if they have changed.
    """
    from fictl.project import Project

    problems = _problems(ops or [])
    if not problems and not ops:
        refresh_stub(Project.at())
    data = [problem.to_dict() for problem in problems]
    result = console.Result(data, lambda out: _view(out, problems), int(bool(problems)))
    console.show(result)


def _problems(words: Sequence[str]) -> Sequence[Problem]:
    from fictl.project import Project, select
    from fictl.project.check import check_ops, check_project

    files = [path for path in map(Path, words) if os.path.isfile(path)]
    ops = [word for word in words if Path(word) not in files]
    projects = dict.fromkeys(Project.at(path.parent) for path in files)
    if not words:
        projects = {Project.at(): None}
    problems = [problem for project in projects for problem in check_project(project)]
    named = check_ops(select(ops)) if ops else ()
    return tuple(dict.fromkeys((*problems, *named)))


def _view(out: Console, problems: Sequence[Problem]) -> None:
    for problem in problems:
        out.print(f"{problem.path}:{problem.line}:", end=" ", markup=False, soft_wrap=True)
        out.print(problem.rule, end=" ", style="red", soft_wrap=True)
        out.print(problem.message, markup=False, soft_wrap=True)
        out.print(f"  {problem.fix}", markup=False, soft_wrap=True)
    if not problems:
        out.print("[green]✓[/] every rule holds")
