"""Case: sizes that users meet, for tests and benchmarks alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fictl.trace.expression import Number


@dataclass(frozen=True)
class Case:
    """A public function at these axis sizes and this dtype; `passing` names optional inputs.

    `scalars` replace the trace's values of scalar inputs that no axis depends on.
    """

    function: str
    sizes: Mapping[str, int]
    dtype: str
    passing: tuple[str, ...] = ()
    scalars: Mapping[str, Number] = field(default_factory=dict)

    @property
    def manner(self) -> tuple[str, ...]:
        """Words that distinguish it from other cases of the same sizes, for tables."""
        return (*self.passing, *(f"{name}={value:g}" for name, value in self.scalars.items()))

    def __str__(self) -> str:
        sizes = "x".join(str(size) for size in self.sizes.values())
        return "-".join((self.function, sizes, self.dtype, *self.manner))
