"""One set of sizes that users meet, for tests and benchmarks alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """A public function at these axis sizes and this dtype; `passing` names optional inputs."""

    function: str
    sizes: Mapping[str, int]
    dtype: str
    passing: tuple[str, ...] = ()

    def __str__(self) -> str:
        sizes = "x".join(str(size) for size in self.sizes.values())
        return "-".join((self.function, sizes, self.dtype, *self.passing))
