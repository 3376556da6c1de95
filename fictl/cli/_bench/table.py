"""The table of `fictl bench`: a line per case, the sides beside each other, ties marked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from fictl.bench.result import BenchReport, Environment
from fictl.bench.row import EMULATED, SKIPPED, TIMED, Row
from fictl.cli import console
from fictl.dtype import parse_dtype
from fictl.paths import friendly
from fictl.quantity import counted
from fictl.timing.verdict import Verdict, compare_rounds

if TYPE_CHECKING:
    from rich.console import Console

_BAR = 20


def show_report(out: Console, report: BenchReport, written: Sequence[Path], verbose: bool) -> None:
    out.print(f"  {_headline(report)}", markup=False, style="dim", soft_wrap=True)
    for warning in report.environment.warnings:
        out.print("  [bold yellow]![/]", end=" ")
        out.print(warning, markup=False, soft_wrap=True)
    for op, function in dict.fromkeys((row.op, row.function) for row in report.rows):
        rows = [row for row in report.rows if (row.op, row.function) == (op, function)]
        if any(row.has_time for row in rows):
            out.print(f"\n[bold]{function}[/]")
            console.print_table(_table(rows, _columns(report.environment, verbose)))
    for mark, text in _remarks(report.rows):
        out.print(f"  {mark}", end=" ")
        out.print(text, markup=False, soft_wrap=True)
    for path in written:
        out.print(f"  wrote {friendly(path)}", markup=False, soft_wrap=True)


def _headline(report: BenchReport) -> str:
    environment = report.environment
    timed = [row for row in report.rows if row.has_time and row.step == "run"]
    parts = [
        _machine(environment),
        _ranks(timed),
        " ".join(dict.fromkeys(row.timer for row in timed)),
    ]
    if environment.device == "cuda" and timed:
        parts.append(_cache(timed))
    if environment.commit:
        parts.append(f"commit {environment.commit[:7]}")
    return " · ".join(filter(None, parts))


def _ranks(rows: Sequence[Row]) -> str:
    """`2 ranks, the slowest`, where several processes were timed."""
    counts = dict.fromkeys(row.ranks for row in rows if row.collective)
    return ", ".join(f"{counted(count, 'rank')}, the slowest" for count in counts)


def _machine(environment: Environment) -> str:
    if environment.device != "cuda":
        return "emulated device"
    clock = f"{environment.sm_mhz} MHz" if environment.sm_mhz else ""
    name = environment.gpu.removeprefix("NVIDIA ") or "unknown GPU"
    return " · ".join(filter(None, (name, environment.gpus, clock)))


def _cache(rows: Sequence[Row]) -> str:
    """`cold L2 (1.1 GB rotated)`: of the case that rotates most."""
    if not all(row.cold for row in rows):
        return "warm L2" if not any(row.cold for row in rows) else "L2 cold for some cases only"
    most = max(row.copies * row.working_set for row in rows)
    return f"cold L2 ({most / 1e9:.1f} GB rotated)" if most >= 1e8 else "cold L2"


@dataclass(frozen=True)
class _Line:
    """The rows of one case and step, by side; `ours` is what the others are compared with."""

    rows: dict[str, Row]

    @property
    def ours(self) -> Row | None:
        own = (row for row in self.rows.values() if not row.is_baseline and row.has_time)
        return next(own, None)


_Columns: TypeAlias = Mapping[str, Callable[[_Line], str]]


def _lines(rows: Iterable[Row]) -> list[_Line]:
    grouped: dict[tuple[str, str], dict[str, Row]] = {}
    for row in rows:
        grouped.setdefault((row.case, row.step), {})[row.side] = row
    lines = [_Line(by_side) for by_side in grouped.values()]
    return [line for line in lines if any(row.has_time for row in line.rows.values())]


def _table(rows: Sequence[Row], columns: _Columns) -> console.Table:
    lines = _lines(rows)
    sides = list(dict.fromkeys(row.side for line in lines for row in line.rows.values()))
    details = {name: text for name, text in columns.items() if any(map(text, lines))}
    cells = [
        [_label(line), *(_cell(line, side) for side in sides), *(t(line) for t in details.values())]
        for line in lines
    ]
    return console.Table(["case", *sides, *details], cells)


def _columns(environment: Environment, verbose: bool) -> _Columns:
    """Columns of fictl's own side; host rates say nothing about an op."""
    rates: dict[str, Callable[[Row], str]] = {
        "GB/s": lambda row: f"{row.gbps:.4g}" if row.gbps and row.ranks == 1 else "",
        "algorithm GB/s": lambda row: f"{row.algbw:.4g}" if row.algbw else "",
        "bus GB/s": lambda row: f"{row.busbw:.4g}" if row.busbw else "",
        "TFLOP/s": lambda row: f"{row.tflops:.3g}" if row.tflops else "",
        "of ceiling": _share,
        "energy": lambda row: f"{row.joules * 1e3:.3g} mJ" if row.joules else "",
        "power": lambda row: f"{row.watts:.0f} W" if row.watts else "",
        "TFLOP/s/W": lambda row: f"{row.tflops_per_watt:.3g}" if row.tflops_per_watt else "",
    }
    details: dict[str, Callable[[Row], str]] = {
        "host": lambda row: _time(row.host_seconds) if row.host_seconds else "",
        "rounds": lambda row: str(len(row.samples)),
        "kernels": lambda row: "; ".join(f"{k.calls:g} x {k.name:.40}" for k in row.kernels),
    }

    def of_ours(text: Callable[[Row], str]) -> Callable[[_Line], str]:
        return lambda line: text(line.ours) if line.ours else ""

    shown = (rates if environment.device == "cuda" else {}) | (details if verbose else {})
    return {name: of_ours(text) for name, text in shown.items()}


def _share(row: Row) -> str:
    if row.of_ceiling is None:
        return ""
    bar = "█" * min(round(row.of_ceiling * _BAR), _BAR + 2)
    return f"{row.of_ceiling:4.0%} of {row.ceiling} {bar}"


def _label(line: _Line) -> str:
    """`16384x4096 bf16`: the function stands above the table."""
    row = next(iter(line.rows.values()))
    sizes = "x".join(map(str, row.sizes.values()))
    step = row.step if row.step != "run" else ""
    return " ".join(filter(None, (sizes, parse_dtype(row.dtype).short, *row.passing, step)))


def _cell(line: _Line, side: str) -> str:
    row, ours = line.rows.get(side), line.ours
    if row is None or not row.has_time or row.median is None:
        return "-" if row is None or row.status == SKIPPED else f"✗ {row.status}"
    if ours is None or row is ours:
        return f"{_time(row.median)} ±{_spread(row)}"
    off = f", off {row.off:.2g}x" if row.off else ""
    return f"{_time(row.median)} ({_against(ours, row)}{off})"


def _against(ours: Row, other: Row) -> str:
    """Above 1 ours is faster. A tie is not a difference that these rounds show."""
    comparison = compare_rounds(ours.samples, other.samples)
    if comparison.verdict is Verdict.SAME:
        return "tie"
    return f"{comparison.ratio:.2f}x{'?' if comparison.verdict is Verdict.UNCLEAR else ''}"


def _time(seconds: float) -> str:
    for unit, scale in (("us", 1e-6), ("ms", 1e-3)):
        if seconds < 1000 * scale:
            value = seconds / scale
            return f"{value:.{_digits(value)}f} {unit}"
    return f"{seconds:.2f} s"


def _spread(row: Row) -> str:
    """Spread of one sample, in the unit of the median."""
    median, spread = row.median or 0.0, (row.stdrel or 0.0) * (row.median or 0.0)
    scale = 1e-6 if median < 1e-3 else 1e-3 if median < 1 else 1
    return f"{spread / scale:.{_digits(median / scale)}f}"


def _digits(value: float) -> int:
    return 2 if value < 10 else 1


def _remarks(rows: Sequence[Row]) -> Iterator[tuple[str, str]]:
    """Remarks about rows; one that many rows share appears once."""
    remarks: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row.note:
            remarks.setdefault((row.status, row.note), []).append(row)
    for (status, note), among in remarks.items():
        yield _MARKS.get(status, "[bold red]✗[/]"), f"{_among(among)}: {note}"
    off = [row for row in rows if row.has_time and row.off]
    if off:
        yield "[yellow]≈[/]", f"{_among(off)}: {_OFF.format(max(row.off for row in off))}"


_MARKS = {
    TIMED: "[dim]·[/]",
    EMULATED: "[dim]·[/]",
    SKIPPED: "[yellow]-[/]",
}
_OFF = "off by up to {:.2g}x what the op's tests allow: timed, as a baseline may round between its steps"


def _among(rows: Sequence[Row]) -> str:
    """`12 cases  torch`: the cases and sides of a remark."""
    cases = list(dict.fromkeys(row.case for row in rows))
    where = cases[0] if len(cases) == 1 else f"{len(cases)} cases"
    return f"{where}  {', '.join(dict.fromkeys(row.side for row in rows))}"
