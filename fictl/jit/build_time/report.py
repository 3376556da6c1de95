"""The result of measuring a build, as `build --time` shows it and --json has it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from fictl.jit.build_time.last_edit import LastEdit
from fictl.jit.build_time.phases import Phase


@dataclass(frozen=True)
class Header:
    """The cost of a header for `unit`: in the compiler's front end, or compiled `alone`."""

    unit: str
    name: str
    includer: str
    lines: int
    seconds: float | None = None
    measured: str = ""


@dataclass(frozen=True)
class KernelTime:
    """Seconds of a kernel in optimiser and assembler, over all targets."""

    unit: str
    name: str
    seconds: float


@dataclass(frozen=True)
class BuildTime:
    """Times of a cold build, one unit after another, and of the last warm one; longest first."""

    seconds: float
    phases: tuple[Phase, ...]
    headers: tuple[Header, ...]
    kernels: tuple[KernelTime, ...]
    last_edit: LastEdit | None

    def to_dict(self) -> dict[str, Any]:
        data: dict[str, Any] = _rounded(asdict(self))
        return {"cold_seconds": data.pop("seconds"), **data}


def _rounded(data: Any) -> Any:
    """Round numbers to the precision of a clock."""
    if isinstance(data, dict):
        return {name: _rounded(value) for name, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [_rounded(value) for value in data]
    return round(data, 4) if isinstance(data, float) else data
