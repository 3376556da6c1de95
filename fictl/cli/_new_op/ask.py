"""Asking for what was not said, on a terminal; Enter takes what stands in brackets."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import typer

from fictl.cli import console
from fictl.errors import FictlError
from fictl.scaffold.kinds.kind import Kind, find_kind, kinds
from fictl.scaffold.new.new_op import draft

if TYPE_CHECKING:
    from fictl.project import Project
    from fictl.scaffold.new.request import NewOpRequest

_KIND = re.compile(r"[A-Za-z][\w-]*")
_WHAT = "What does it compute? An expression, such as silu(x) * y, or a kind of the list"


def ask(request: NewOpRequest, project: Project) -> NewOpRequest:
    """Computation or kind, family, dtypes; an answer that will not do is asked for again."""
    known = sorted(kinds(project.templates).values(), key=lambda kind: (not kind.guess, kind.guess))
    _show(known)

    def computation(answer: str) -> NewOpRequest:
        """One word is a kind, anything else an expression."""
        if _KIND.fullmatch(answer.strip()):
            return replace(request, kind=find_kind(answer.strip(), project.templates).name)
        return replace(request, expression=answer)

    request = _asked(project, _WHAT, known[0].default, computation)
    kind = draft(project, request).kind
    if kind.expression and not request.expression:
        request = _field(project, request, "expression", "What does it compute?", kind.default)
    request = _field(project, request, "family", "In which family?", kind.family)
    return _field(project, request, "dtypes", "For which dtypes?", kind.dtypes)


def _show(known: Iterable[Kind]) -> None:
    """A line for each kind, wrapped at words."""
    known = [*known]
    width = max(len(kind.name) for kind in known)
    for kind in known:
        text = f"  {kind.name:{width}}  {kind.summary}"
        indent = " " * (width + 4)
        console.note(textwrap.fill(text, console.width(), subsequent_indent=indent))


def _field(
    project: Project, request: NewOpRequest, field: str, question: str, usual: str
) -> NewOpRequest:
    def answered(answer: str) -> NewOpRequest:
        change: dict[str, Any] = {field: answer}
        return replace(request, **change)

    return _asked(project, question, usual, answered)


def _asked(
    project: Project, question: str, usual: str, answered: Callable[[str], NewOpRequest]
) -> NewOpRequest:
    while True:
        answer = typer.prompt(question, default=usual, err=True)
        try:
            request = answered(answer)
            draft(project, request)
        except FictlError as error:
            console.problem(error)
        else:
            return request
