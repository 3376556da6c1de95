"""Rewrites preprocessed CUDA C++ for a host C++ compiler; line numbers stay the same.

Launches become calls, shared variables become references to memory of the block, and inline PTX
becomes function calls. Types, overloads and templates are left to the compiler.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from fictl.emu.rewrite.asm import assembly
from fictl.emu.rewrite.captures import Reach, capture
from fictl.emu.rewrite.cluster_dims import CLUSTER_DIMS, cluster_dims
from fictl.emu.rewrite.launches import is_operator, keep_types, launch
from fictl.emu.rewrite.leniency import strict
from fictl.emu.rewrite.markers import hide, place, reveal
from fictl.emu.rewrite.scan import CONSTRUCT, Edit, Malformed, apply, closing
from fictl.emu.rewrite.shared import SHARED, Variable, bind, declaration, namespace
from fictl.errors import FictlError

__all__ = ["rewrite"]


def rewrite(text: str, own_headers: Sequence[str]) -> str:
    """Rewrite `text`, the preprocessor's output with its line markers.

    own_headers: folders whose headers are not rewritten (the emulator's and the toolkit's).
    System headers are recognised without being named.
    """
    shown, hidden = hide(text, own_headers)
    shown = keep_types(strict(shown))
    try:
        shown = apply(shown, _edits(shown))
    except Malformed as problem:
        raise FictlError(
            f"{place(shown, problem.index)}: {problem}", "nvcc does not take this code either"
        ) from None
    return reveal(shown, hidden)


def _edits(text: str) -> list[Edit]:
    scan = _Scan(text)
    for match in CONSTRUCT.finditer(text):
        if match.start() >= scan.done:
            scan.meet(match[0], match.start())
    bound, reaches = bind(text, scan.first_outside, scan.outside)
    return scan.edits + bound + capture(text, scan.reaches + reaches)


@dataclass
class _Scan:
    """State of the scan up to `done`."""

    text: str
    done: int = 0
    edits: list[Edit] = field(default_factory=list)
    braces: list[int] = field(default_factory=list)  # indices of open braces
    reaches: list[Reach] = field(default_factory=list)
    outside: list[Variable] = field(default_factory=list)  # shared, declared outside of functions
    first_outside: int = 0

    def meet(self, word: str, at: int) -> None:
        if word == "{":
            self.braces.append(at)
        elif word == "}":
            del self.braces[-1:]
        elif word == "<<<" and not is_operator(self.text, at):
            self._replace(launch(self.text, at))
        elif word == SHARED:
            self._declare(at)
        elif word == CLUSTER_DIMS:
            self.edits += cluster_dims(self.text, at)
        elif word.endswith(("asm", "asm__")):
            self._replace(assembly(self.text, at, len(self.edits)))

    def _replace(self, edit: Edit | None) -> None:
        if edit is not None:
            self.edits.append(edit)
            self.done = edit.end

    def _declare(self, at: int) -> None:
        where = namespace(self.text, self.braces)
        edit, variables = declaration(self.text, at, where)
        self._replace(edit)
        if where is not None:
            self.first_outside = self.first_outside or self.done
            self.outside += variables
        else:
            end = closing(self.text, self.braces[-1])
            self.reaches += [Reach(self.done, end, variable.name) for variable in variables]
