"""Benchmarks of ops: timing, checks before and after it, and stored results."""

from typing import TYPE_CHECKING

from fictl.lazy import lazy

if TYPE_CHECKING:
    from fictl.bench.worker.inductor import compiled
    from fictl.bench.worker.tolerant import tolerant
    from fictl.case.ranks import Ranks

__all__ = ["Ranks", "compiled", "tolerant"]

__getattr__ = lazy(
    __name__,
    {"Ranks": "fictl.case.ranks", "compiled": "worker.inductor", "tolerant": "worker.tolerant"},
)
