"""Renaming: which op gets which name, and how an identifier that carries the old one changes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from fictl.project import OpFolder
from fictl.scaffold.new.names import title


@dataclass(frozen=True)
class Renaming:
    """An op's folder, and where it is to be."""

    before: OpFolder
    after: OpFolder

    @property
    def old(self) -> str:
        return self.before.module

    @property
    def new(self) -> str:
        return self.after.module

    @property
    def moves_family(self) -> bool:
        return self.before.family != self.after.family

    @cached_property
    def public(self) -> tuple[str, ...]:
        """The functions and classes that bear the folder's name: `segment_sum`, `SegmentSum`."""
        declared = (declaration.name for declaration in self.before.declarations())
        return tuple(name for name in declared if self.is_whole(name))

    @cached_property
    def kept(self) -> frozenset[str]:
        """Names that callers use: arguments, and functions with names of their own."""
        declared = self.before.declarations()
        kept = {parameter.name for declaration in declared for parameter in declaration.parameters}
        kept |= {declaration.name for declaration in declared}
        return frozenset(name for name in kept if not self.is_whole(name))

    def is_whole(self, name: str) -> bool:
        """Nothing but the op's name, in one of its spellings."""
        return name.replace("_", "").lower() == self.old.replace("_", "").lower()

    def respell(self, name: str) -> str:
        """`launch_scale`, `ScaleKernel`, `kScaleVecs`, `SCALE_ROWS`: with the new name in them."""
        return self._spellings.sub(self._spelled, name)

    def _spelled(self, match: re.Match[str]) -> str:
        new = {"snake": self.new, "loud": self.new.upper(), "camel": title(self.new)}
        return new[match.lastgroup or "snake"]

    @cached_property
    def _spellings(self) -> re.Pattern[str]:
        alone = r"(?<![A-Za-z0-9]){}(?![A-Za-z0-9])"
        snake, loud = alone.format(self.old), alone.format(self.old.upper())
        # In any mixture, as RMSNorm is.
        camel = rf"(?=[A-Z]\w*?[a-z0-9])(?i:{self.old.replace('_', '')})(?![a-z])"
        return re.compile(f"(?P<snake>{snake})|(?P<loud>{loud})|(?P<camel>{camel})")
