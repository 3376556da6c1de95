"""Asking for what was not said, on a terminal; Enter takes what stands in brackets."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import typer

from fictl.cli import console
from fictl.errors import FictlError
from fictl.scaffold.kinds.kind import find_kind, kinds
from fictl.scaffold.new.new_op import draft

if TYPE_CHECKING:
    from fictl.project import Project
    from fictl.scaffold.new.request import NewOpRequest


def ask(request: NewOpRequest, project: Project) -> NewOpRequest:
    """Kind, computation, family, dtypes; an answer that will not do is asked for again."""
    known = sorted(kinds(project.templates).values(), key=lambda kind: (not kind.guess, kind.guess))
    width = max(len(kind.name) for kind in known)
    for kind in known:
        console.note(f"  {kind.name:{width}}  {kind.summary}")
    request = _asked(project, request, "kind", "What is it like?", known[0].name)
    kind = find_kind(request.kind, project.templates)
    if kind.expression:
        request = _asked(project, request, "expression", "What does it compute?", kind.default)
    request = _asked(project, request, "family", "In which family?", kind.family)
    return _asked(project, request, "dtypes", "For which dtypes?", kind.dtypes)


def _asked(
    project: Project, request: NewOpRequest, field: str, question: str, usual: str
) -> NewOpRequest:
    while True:
        answer = typer.prompt(question, default=usual, err=True)
        answered = replace(request, **{field: answer})
        try:
            draft(project, answered)
        except FictlError as error:
            console.problem(error)
        else:
            return answered
