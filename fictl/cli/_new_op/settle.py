"""Questions on a terminal about names that may be tensors or numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import typer

from fictl.cli import console

if TYPE_CHECKING:
    from fictl.scaffold.new.draft import Draft
    from fictl.scaffold.new.request import NewOpRequest

_ANSWERS = ("number", "tensor")


def settle(request: NewOpRequest, draft: Draft) -> NewOpRequest:
    """Ask for each name that was guessed to be a number; Enter leaves it one."""
    from fictl.scaffold.new.guess import unsaid_numbers

    signature = draft.signature
    names = unsaid_numbers(draft.kind, request, signature)
    if not names:
        return request
    first = signature.inputs[0]
    tensors = [name for name in names if _is_tensor(name, str(first))]
    numbers = [name for name in names if name not in tensors]
    if not tensors:
        return replace(request, scalars=(*request.scalars, *(f"{name}:float" for name in numbers)))
    axes = ",".join(first.axis_names)
    own = request.inputs or tuple(map(str, signature.inputs))
    return replace(
        request,
        inputs=(*own, *(f"{name}:{axes}" for name in tensors)),
        scalars=(*request.scalars, *(f"{name}:float" for name in numbers)),
    )


def _is_tensor(name: str, like: str) -> bool:
    question = f"Is {name} a number, or a tensor like {like}? (number, tensor)"
    while True:
        answer: str = typer.prompt(question, default="number", err=True).strip().lower()
        match = [word for word in _ANSWERS if answer and word.startswith(answer)]
        if match:
            return match[0] == "tensor"
        console.note(f"  {answer!r} is neither: answer number or tensor")
