"""One generated test of an op, named by a text that is enough to repeat it."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, field

from fictl.errors import UsageError
from fictl.testing.generated.layout import MemoryLayout
from fictl.trace import Case


@dataclass(frozen=True)
class CaseVariant:
    """A case with the layout of its tensors, and the seed and kind of their numbers.

    declared: bench.py has this case; the op may refuse cases derived from it.
    """

    case: Case
    layout: MemoryLayout
    seed: int
    values: str = "normal"
    declared: bool = field(default=True, compare=False)

    def __str__(self) -> str:
        """Spell it as in rmsnorm-3x64-float16,strided,seed=123."""
        values = () if self.values == "normal" else (self.values,)
        return ",".join((str(self.case), self.layout.value, *values, f"seed={self.seed}"))


def choose(variants: Sequence[CaseVariant], text: str) -> list[CaseVariant]:
    """Choose the variant named `text`, or all that contain each of its comma-separated parts."""
    exact = [variant for variant in variants if str(variant) == text]
    wanted = {part.strip() for part in text.split(",")}
    chosen = exact or [v for v in variants if wanted <= {*str(v).split(",")}]
    if chosen:
        return chosen
    whole = "," in text
    names = [*dict.fromkeys(str(v if whole else v.case) for v in variants)]
    near = difflib.get_close_matches(text, names, 3, cutoff=0.3) or names[:3]
    raise UsageError(
        f"there is no case {text!r}",
        f"near it: {'   '.join(near)}" if near else "the op has none",
    )
