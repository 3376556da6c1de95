"""One row of a result: one side of one case, its samples, and the checks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from math import isfinite
from typing import Any

from fictl.case.ranks import bus_factor, is_counted
from fictl.timing import statistics
from fictl.timing.samples import Kernel

TIMED, EMULATED, WRONG, FAILED, SKIPPED = "timed", "emulated", "wrong", "failed", "skipped"


@dataclass(frozen=True)
class Row:
    """`samples` are seconds; samples[i] of all rows of a case and step are of the same round.

    op: as `project/family/module`. side: 'fictl', one of its backends, or a baseline.
    passing: optional inputs that are passed, and scalars that differ from the trace's.
    step: 'run'; or 'plan' of a class, including the host's work and in separate rounds.
    status: 'timed'; 'emulated' (by the host's clock, not a GPU's time); 'wrong' (differs from the
        reference), 'failed' (an error or a hang), 'skipped' (cannot run here); `note` gives the
        reason, or a remark.
    off: the largest error of a baseline in tolerances of the op, or 0 within them.
    joules, watts: energy of one call and the board's power, if requested.
    key: the op's recipe in the build cache. checked: against the reference, before and after.
    ranks: processes that call it together; samples are then the times of the slowest.
    collective, message: of several ranks, what its bandwidth is counted as, and the bytes of it.
    bytes, flops: of one call, by the trace. of_ceiling: the share of `ceiling` reached.
    """

    op: str
    function: str
    side: str
    case: str
    sizes: Mapping[str, int]
    dtype: str
    passing: tuple[str, ...] = ()
    step: str = "run"
    backend: str = ""
    is_baseline: bool = False
    status: str = TIMED
    note: str = ""
    checked: bool = False
    off: float = 0.0
    key: str = ""
    timer: str = ""
    cold: bool = False
    copies: int = 0
    working_set: int = 0
    samples: tuple[float, ...] = ()
    kernels: tuple[Kernel, ...] = field(default=())
    bytes: int | None = None
    flops: int | None = None
    of_ceiling: float | None = None
    ceiling: str = ""
    host_seconds: float | None = None
    joules: float | None = None
    watts: float | None = None
    ranks: int = 1
    collective: str = ""
    message: int | None = None

    @property
    def has_time(self) -> bool:
        """Tell whether it was timed, on a GPU or emulated."""
        return self.status in (TIMED, EMULATED)

    @property
    def median(self) -> float | None:
        return statistics.median(self.samples) if self.samples else None

    @property
    def stdrel(self) -> float | None:
        return statistics.stdrel(self.samples) if self.samples else None

    @property
    def interval(self) -> tuple[float, float] | tuple[None, None]:
        """Return the 95 % confidence interval of the median."""
        return statistics.interval(self.samples) if self.samples else (None, None)

    @property
    def gbps(self) -> float | None:
        return self.bytes / self.median / 1e9 if self.bytes and self.median else None

    @property
    def algbw(self) -> float | None:
        """Return the algorithm bandwidth in GB/s, as nccl-tests defines it."""
        return self.message / self.median / 1e9 if self.message and self.median else None

    @property
    def busbw(self) -> float | None:
        """Return the bus bandwidth in GB/s: what the busiest link carries, for any number of ranks."""
        if self.algbw is None:
            return None
        return self.algbw * bus_factor(self.collective, self.ranks)

    @property
    def tflops(self) -> float | None:
        return self.flops / self.median / 1e12 if self.flops and self.median else None

    @property
    def tflops_per_watt(self) -> float | None:
        return self.flops / self.joules / 1e12 if self.flops and self.joules else None

    def against(self, ceilings: Mapping[str, float]) -> Row:
        """Add the larger of its shares of `copy` (bytes/s) and `matmul` (flop/s)."""
        reached = {"copy": (self.gbps or 0) * 1e9, "matmul": (self.tflops or 0) * 1e12}
        shares = {
            name: value / ceilings[name] for name, value in reached.items() if ceilings.get(name)
        }
        best = max(shares, key=lambda name: shares[name], default="")
        return replace(self, of_ceiling=shares[best], ceiling=best) if best else self

    def refused(self, status: str, note: str) -> Row:
        """Return the row without its times, which do not count."""
        return replace(
            self,
            status=status,
            note=note,
            samples=(),
            kernels=(),
            of_ceiling=None,
            ceiling="",
            joules=None,
            watts=None,
        )

    def to_dict(self) -> dict[str, Any]:
        """Add the statistics of the samples, for readers; `from_dict` computes them again."""
        low, high = self.interval
        return asdict(self) | {
            "median": self.median,
            "stdrel": self.stdrel,
            "low": low,
            "high": high,
            "gbps": self.gbps,
            "algbw": self.algbw,
            "busbw": self.busbw,
            "tflops": self.tflops,
            "tflops_per_watt": self.tflops_per_watt,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Row:
        from pydantic import TypeAdapter

        known = {entry.name: data[entry.name] for entry in fields(cls) if entry.name in data}
        row: Row = TypeAdapter(cls).validate_python(known)
        if row.collective and (row.ranks < 1 or not is_counted(row.collective)):
            raise ValueError(f"{row.case} of {row.function} is of {row.ranks} ranks")
        if not all(isfinite(sample) and sample >= 0 for sample in row.samples):
            raise ValueError(f"{row.case} of {row.function} has a sample that is not a time")
        if not (isfinite(row.off) and row.off >= 0):
            raise ValueError(f"{row.case} of {row.function} is off by {row.off}")
        return row
