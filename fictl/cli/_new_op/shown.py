"""A new op as people see it: its signature, what was guessed of it, its files, what to do next."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fictl.scaffold.new.draft import Draft
    from fictl.scaffold.plan.plan import Plan

# As the way of the data is.
_ORDER = ("launcher.cu", "binding.cpp", "jit.py", "op.py", "trace.py", "bench.py")


def described(new_op: Draft) -> Iterator[str]:
    """The signature, and every guess with the options that say it otherwise."""
    yield f"  {new_op.call}"
    yield from guesses(new_op)


def guesses(new_op: Draft) -> Iterator[str]:
    for guess in new_op.guesses:
        yield f"  guess: {guess.text}:"
        yield f"         {guess.instead}"


def written(new_op: Draft, plan: Plan) -> Iterator[str]:
    """Lines for people: the computation, the files by folder, and what to do next."""
    from fictl.scaffold.record import FILE as RECORD

    yield from described(new_op)
    shown = [plan.shown(path) for path in plan.files if path.name != RECORD]
    kernels = [name for name in shown if name.endswith(".cuh")]
    tests = [name for name in shown if Path(name).name.startswith("test_")]
    others = [name for name in shown if name not in (*kernels, *tests)]
    for number, name in enumerate(kernels):
        yield f"  {name}" + (f"      {new_op.kind.kernel}" if number == 0 else "")
    for folder in dict.fromkeys(str(Path(name).parent) for name in others):
        names = [Path(name).name for name in others if str(Path(name).parent) == folder]
        names.sort(key=lambda file: _ORDER.index(file) if file in _ORDER else -1)
        yield f"  {folder}/  {' '.join(names)}"
    yield from (f"  {name}" for name in tests)
    yield from _left_to_do(new_op)
    op = shlex.quote(new_op.name)
    place = _place_to_edit(new_op, plan)
    edit = f"      edit: {place}" if place else ""
    yield f"  {len(shown)} files · next: fictl test {op}      fictl bench {op}{edit}"


def _left_to_do(new_op: Draft) -> Iterator[str]:
    """Parts of an op from a definition that are left to its author."""
    more = new_op.more or {}
    if "flag" in more:
        yield (
            f"  to write: the kernel's body in {new_op.name}.cuh; {more['flag']} = true then. "
            "Until then a call, and every test, says so"
        )
    if more.get("unsaid"):
        yield f"  to write: an init in trace.py that makes {', '.join(more['unsaid'])}"


def _place_to_edit(new_op: Draft, plan: Plan) -> str:
    """Place of the computation: in the header, or in the kernel's Python file."""
    for path, text in plan.files.items():
        if text and (path.suffix == ".cuh" or path.name == "kernel.py"):
            lines = enumerate(text.splitlines(), 1)
            match = (number for number, line in lines if re.search(new_op.kind.edit, line))
            return f"{path.name}:{next(match, 1)}"
    return ""
