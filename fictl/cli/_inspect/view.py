"""The view of `fictl inspect`: a table for each module, its code, changes, and gates."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from fictl.cli import console
from fictl.cli._inspect.table import short_names, show_table
from fictl.inspect.listing import by_source, changed, in_order, ptx_of, sass_of

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.inspect.difference import KernelDifference
    from fictl.inspect.gate import Violation
    from fictl.inspect.inspected import Inspected
    from fictl.inspect.report import InspectReport


def view(out: Console, report: InspectReport, shown: Collection[str]) -> None:
    from fictl.cli.no_ops import no_ops

    if not report.modules:
        out.print(no_ops(), markup=False, soft_wrap=True)
    for at, one in enumerate(report.modules):
        if at:
            out.print()
        if one.error:
            console.problem(one.error)
            continue
        show_table(out, one, report.launch)
        if not report.against:
            _code(out, one, shown)
    for one in report.before:
        if one.error:
            console.problem(one.error)
    if report.against:
        _changes(out, report, "sass" in shown)
    if report.gates:
        _gates(out, report)


def data_of(report: InspectReport, shown: Collection[str]) -> dict[str, Any]:
    """Build the document for --json; code is part of its kernel."""
    data = report.to_dict()
    modules = [
        {**module, "kernels": [*_with_code(one, module["kernels"], shown)]}
        for one, module in zip(report.modules, data["modules"], strict=True)
    ]
    return {**data, "modules": modules}


def _with_code(
    one: Inspected, rows: Sequence[dict[str, Any]], shown: Collection[str]
) -> Iterator[dict[str, Any]]:
    sass = sass_of(one) if {"sass", "source"} & set(shown) else {}
    ptx = ptx_of(one) if "ptx" in shown else {}
    for kernel, row in zip(one.kernels, rows, strict=True):
        code: dict[str, Any] = {}
        if kernel.key in sass:
            code["sass"] = [
                {"offset": line.offset, "text": line.text, "place": _place(one, line.place)}
                for line in sass[kernel.key]
            ]
        if kernel.key in ptx:
            code["ptx"] = ptx[kernel.key]
        yield {**row, **code}


def _place(one: Inspected, place: Any) -> str | None:
    return one.sources.shown(place) if one.sources and place else None


def _code(out: Console, one: Inspected, shown: Collection[str]) -> None:
    names = short_names(one.kernels)
    sass = sass_of(one) if {"sass", "source"} & set(shown) else {}
    ptx = ptx_of(one) if "ptx" in shown else {}
    for kernel in one.kernels:
        key = kernel.key
        title = f"{names[kernel.mangled]}  {kernel.arch}"
        if "sass" in shown:
            _block(out, title, in_order(sass[key], one.sources))
        if "source" in shown:
            _block(out, title, _grouped(one, sass[key]))
        if "ptx" in shown:
            _block(out, title, ptx[key].splitlines())


def _grouped(one: Inspected, code: Any) -> Iterator[str]:
    for group in by_source(code, one.sources):
        yield f"  {group.place}  {group.text}".rstrip()
        yield from (
            f"    {instruction.offset:04x}  {instruction.text}" for instruction in group.code
        )


def _block(out: Console, title: str, lines: Any) -> None:
    out.print()
    out.print(title, style="bold", markup=False, soft_wrap=True)
    for line in lines:
        style = "dim" if line.lstrip().startswith("//") else None
        out.print(line, markup=False, style=style, soft_wrap=True)


def _changes(out: Console, report: InspectReport, with_code: bool) -> None:
    names = short_names([difference.kernel for difference in report.differences])
    rows = [
        (
            names[difference.kernel.mangled],
            difference.kernel.arch,
            difference.status,
            _numbers(difference),
        )
        for difference in report.differences
    ]
    out.print(f"\nsince {report.against}", markup=False, soft_wrap=True)
    if rows:
        styles = {"changed": "yellow", "same": "dim", "new": "green", "gone": "red"}
        console.print_table(console.Table(("kernel", "arch", "", "what"), rows, styles))
    if with_code:
        for title, lines in _diffs(report, names):
            _block(out, title, lines)


def _diffs(report: InspectReport, names: dict[str, str]) -> Iterator[tuple[str, Iterator[str]]]:
    old = _codes(report.before)
    new = _codes(report.modules)
    for difference in report.differences:
        if difference.before and difference.now and not difference.same:
            before = old[difference.before.key]
            now = new[difference.now.key]
            title = f"{names[difference.now.mangled]}  {difference.now.arch}"
            yield title, changed(before, now, (report.against, "now"))


def _codes(modules: Sequence[Inspected]) -> dict[tuple[str, str, str], Any]:
    return {key: code for one in modules for key, code in sass_of(one).items()}


def _numbers(difference: KernelDifference) -> str:
    if difference.status == "changed" and not difference.changes:
        return "other instructions, the same numbers"
    return ", ".join(
        f"{change.name} {_number(change.before)} → {_number(change.now)}"
        for change in difference.changes
    )


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:g}"


def _gates(out: Console, report: InspectReport) -> None:
    for violation in report.violations:
        _violation(out, violation)
    kernels = sum(len(one.kernels) for one in report.modules)
    if not report.violations and not report.errors:
        held = ", ".join(map(str, report.gates))
        out.print(f"\n[green]✓[/] {held}: holds for {kernels} kernel{'s' * (kernels != 1)}")


def _violation(out: Console, violation: Violation) -> None:
    from rich.markup import escape

    kernel = escape(f"{violation.kernel.name} for {violation.kernel.arch}")
    name, value = escape(violation.gate.name), _number(violation.value)
    wanted = escape(f"{violation.gate.sign}{violation.gate.wanted:g}")
    out.print(f"\n[red]✗[/] {kernel}: {name} is {value}, wanted {wanted}", soft_wrap=True)
    out.print(f"  {violation.place}  {violation.source}".rstrip(), markup=False, soft_wrap=True)
    if violation.instruction:
        why = f"    // {violation.why}" if violation.why else ""
        out.print(f"  {violation.instruction}{why}", markup=False, soft_wrap=True)
