"""One launch of a kernel as measured by ncu: the raw page of its report, as CSV."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

from fictl.errors import FictlError
from fictl.profile.spelling import respelt

# ncu scales printed values: sizes and times are converted back to bytes and seconds.
_UNIT = re.compile(r"(?P<prefix>[numKMGT]?)(?:byte|s|second)(?:/.*)?")
_SCALES = {"": 1.0, "n": 1e-9, "u": 1e-6, "m": 1e-3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_OF_A_KERNEL = "Kernel Name"
_LIMIT = "launch__occupancy_limit_"
# Intermediate values of ncu's own rules, without a meaning of their own.
_INNER = "derived_tempMetric"


@dataclass(frozen=True)
class Launch:
    """A measured launch. metrics: collected values that are numbers; without: metrics that ncu
    collected but has no number for.
    """

    id: str
    kernel: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    metrics: Mapping[str, float]
    without: tuple[str, ...] = ()

    def get(self, name: str) -> float | None:
        return self.metrics.get(name)

    def peak(self, name: str) -> float | None:
        """Use of a unit: percent of its sustained peak over the whole launch."""
        return self.get(f"{name}.avg.pct_of_peak_sustained_elapsed")

    @cached_property
    def name(self) -> str:
        return respelt(self.kernel)

    @property
    def waves(self) -> float | None:
        """Number of times that the blocks fill the GPU. ncu prints two decimals, which
        may be 0.00.
        """
        sms = self.get("launch__sm_count")
        limits = [count for name, count in self.metrics.items() if name.startswith(_LIMIT)]
        if not sms or not limits:
            return self.get("launch__waves_per_multiprocessor") or None
        return prod(self.grid) / (sms * min(limits))

    @property
    def seconds(self) -> float | None:
        return self.get("gpu__time_duration.sum")


def short_name(kernel: str) -> str:
    """`RMSNormKernel` of `void fictl::norm::RMSNormKernel<(int)8>(float*)`."""
    plain = kernel.replace("(anonymous namespace)::", "").replace("<unnamed>::", "")
    words = re.split(r"[<(]", plain, maxsplit=1)[0].split()
    return words[-1].rpartition("::")[2] if words else kernel


def parse_launches(text: str) -> list[Launch]:
    """Parse the raw page: a header, the units, and a line for each launch."""
    rows = list(csv.reader(table(text)))
    if len(rows) < 2:
        raise FictlError("ncu printed no table of its report", text.strip()[-500:])
    names, units = rows[0], rows[1]
    return [_launch(names, units, row) for row in rows[2:] if len(row) == len(names)]


def table(text: str, column: str = _OF_A_KERNEL) -> list[str]:
    """The lines of a CSV, without warnings that ncu may print before it."""
    lines = text.splitlines()
    begins = (i for i, line in enumerate(lines) if line.startswith('"') and column in line)
    return lines[next(begins, len(lines)) :]


def _launch(names: Sequence[str], units: Sequence[str], row: Sequence[str]) -> Launch:
    columns = dict(zip(names, row, strict=True))
    metrics: dict[str, float] = {}
    without: list[str] = []
    for name, unit, text in zip(names, units, row, strict=True):
        value = _number(text)
        if value is not None and math.isfinite(value):
            metrics[name] = value * _scale(unit)
        elif (value is not None or text == "n/a") and not name.startswith(_INNER):
            without.append(name)
    return Launch(
        columns["ID"],
        columns[_OF_A_KERNEL],
        tuple(_sizes(columns["Grid Size"])),
        tuple(_sizes(columns["Block Size"])),
        metrics,
        tuple(without),
    )


def _number(text: str) -> float | None:
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None


def _scale(unit: str) -> float:
    match = _UNIT.fullmatch(unit)
    return _SCALES[match["prefix"]] if match else 1.0


def _sizes(text: str) -> Iterator[int]:
    return (int(size) for size in re.findall(r"\d+", text))
