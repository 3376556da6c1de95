"""The catalogue of ops: what each takes and gives, where it runs, and how fast it was measured to be."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

from fictl.bench.result import BenchReport, load
from fictl.bench.row import TIMED, Row
from fictl.errors import UsageError
from fictl.project import OpFolder, Project, folders
from fictl.project.declaration import Declaration
from fictl.trace import Tensor, TraceTemplate

RESULTS = Path(__file__).parent / "results"
# Of one function: its largest cases, as far as they were timed.
_SHOWN = 4

INTRO = """# Ops

`fictl.ops.NAME`, or `import fictl.compat.flashinfer as flashinfer` where the name is FlashInfer's. Shapes are the trace's: leading
dimensions may be more where the text says so. Times are medians with a cold L2; "of copy" is the share of the bandwidth of a copy that
was measured in the same run, and a peer's column is its time over ours; "unchecked" was timed without a look at its results, where those
differ from the reference by more than rounding. The files that they come from are linked.
"""


def page() -> str:
    families = groupby(folders(Project.shipped()), key=lambda folder: folder.family)
    return "\n".join([INTRO, *_index(), *(_family(name, [*found]) for name, found in families)])


def _index() -> Iterator[str]:
    yield "| family | functions |\n|---|---|"
    for family, found in groupby(folders(Project.shipped()), key=lambda folder: folder.family):
        names = [declared.name for folder in found for declared in folder.declarations()]
        yield f"| [{family}](#{family}) | {' '.join(f'[`{n}`](#{n.lower()})' for n in names)} |"
    yield ""


def _family(name: str, found: list[OpFolder]) -> str:
    entries = [_entry(folder, each) for folder in found for each in folder.declarations()]
    return "\n".join([f"## {name}\n", *entries])


def _entry(folder: OpFolder, declared: Declaration) -> str:
    template: TraceTemplate = getattr(folder.load("trace"), declared.name)
    backends = ", ".join(f"{name} ({rule})" for name, rule in declared.backends.items())
    facts = [
        f"### {declared.name}\n\n{_calls(folder, declared)}\n\n{declared.doc}\n",
        f"- {', '.join(_tensors(template.input_tensors()))} → "
        f"{', '.join(_tensors(template.outputs.items()))}",
        f"- {' '.join(dtype.short for dtype in declared.dtypes)} · architectures {declared.archs} · "
        f"{' and '.join(declared.devices)}" + (f" · backends {backends}" if backends else ""),
        "",
    ]
    return "\n".join([*facts, *_measured(folder, declared.name)])


def _calls(folder: OpFolder, declared: Declaration) -> str:
    """As it is called: a function at once, a class in the three steps that it has."""
    function = getattr(folder.load("op"), declared.name)
    if not inspect.isclass(function):
        return f"`{declared.name}{_signature(function, declared)}`"
    steps = ((declared.name, function.__init__), (".plan", function.plan), (".run", function.run))
    return "\n".join(f"`{name}{_signature(step, declared)}`<br>" for name, step in steps)


def _signature(function: Any, declared: Declaration) -> str:
    """Without types, and defaults as the source has them."""
    texts = {each.name: each.default for each in declared.parameters}
    shown: list[str] = []
    for each in inspect.signature(function).parameters.values():
        if each.kind is each.KEYWORD_ONLY and "*" not in shown:
            shown.append("*")
        has_default = each.default is not each.empty
        default = texts.get(each.name) or repr(each.default)
        shown.append(f"{each.name}={default}" if has_default else each.name)
    return f"({', '.join(name for name in shown if name != 'self')})"


def _tensors(tensors: Iterable[tuple[str, Tensor]]) -> Iterator[str]:
    for name, tensor in tensors:
        shape = f"({', '.join(tensor.axes)}{',' if len(tensor.axes) == 1 else ''})"
        notes = [tensor.dtype] * bool(tensor.dtype) + ["optional"] * tensor.optional
        yield f"`{name}` {shape}" + (f" {' '.join(notes)}" if notes else "")


def _measured(folder: OpFolder, function: str) -> Iterator[str]:
    """Of the newest file that has it."""
    for path, report in _reports():
        rows = [r for r in report.rows if r.op == str(folder) and r.function == function]
        cases = {
            r.case: r for r in rows if not r.is_baseline and r.status == TIMED and r.of_ceiling
        }
        if cases:
            shown = sorted(cases.values(), key=lambda row: row.bytes or 0, reverse=True)[:_SHOWN]
            yield from _table(report, path, shown, [row for row in rows if row.is_baseline])
            return


def _table(report: BenchReport, path: Path, rows: list[Row], others: list[Row]) -> Iterator[str]:
    peers = [*dict.fromkeys(row.side for row in others if row.median)]
    gpu = report.environment.gpu.removeprefix("NVIDIA ")
    checked = {row.side for row in others if row.checked}
    heads = [peer if peer in checked else f"{peer}, unchecked" for peer in peers]
    yield f"| [{gpu}](results/{path.name}) | us | of copy | {' | '.join(heads)} |"
    yield "|---" * (3 + len(peers)) + "|"
    for row in rows:
        times = {r.side: r.median for r in others if r.case == row.case and r.median}
        ratios = [f"{times[p] / row.median:.2f}x" if p in times else "" for p in peers]
        name = row.case.removeprefix(f"{row.function}-")
        yield f"| {name} | {row.median * 1e6:.1f} | {_share(row)} | {' | '.join(ratios)} |"
    yield ""


def _share(row: Row) -> str:
    """A working set that L2 holds has no roofline in memory."""
    return f"{row.of_ceiling:.0%}" if (row.bytes or 0) >= 1 << 26 else ""


@cache
def _reports() -> list[tuple[Path, BenchReport]]:
    """The newest first; files of other schemas are other things."""
    found: list[tuple[Path, BenchReport]] = []
    for path in RESULTS.glob("*.json"):
        try:
            found.append((path, load(path)))
        except UsageError:
            continue

    def moment(each: tuple[Path, Any]) -> str:
        return str(each[1].environment.timestamp)

    return sorted(found, key=moment, reverse=True)
