"""One generated test of an op, under the text that repeats it."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, field

from fictl.errors import UsageError
from fictl.testing.generated.layout import Layout
from fictl.trace import Case


@dataclass(frozen=True)
class Variant:
    """A case with the layout of its tensors, the seed of its numbers, and their kind.

    It is `declared` where bench.py has the case; one that only follows from such, the op may refuse.
    """

    case: Case
    layout: Layout
    seed: int
    values: str = "normal"
    declared: bool = field(default=True, compare=False)

    def __str__(self) -> str:
        """As in rmsnorm-3x64-float16,strided,seed=123."""
        values = () if self.values == "normal" else (self.values,)
        return ",".join((str(self.case), self.layout.value, *values, f"seed={self.seed}"))


def choose(variants: Sequence[Variant], text: str) -> list[Variant]:
    """The one that is named, or all that have the parts which `text` has between its commas."""
    exact = [each for each in variants if str(each) == text]
    wanted = {part.strip() for part in text.split(",")}
    chosen = exact or [each for each in variants if wanted <= {*str(each).split(",")}]
    if chosen:
        return chosen
    whole = "," in text
    names = [*dict.fromkeys(str(each if whole else each.case) for each in variants)]
    near = difflib.get_close_matches(text, names, 3, cutoff=0.3) or names[:3]
    raise UsageError(
        f"there is no case {text!r}",
        f"near it: {'   '.join(near)}" if near else "the op has none",
    )
