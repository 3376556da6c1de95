"""What `fictl inspect` shows: a table for each module, its code, changes, and gates."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from fictl.cli import console
from fictl.cli.inspect.table import short_names, show_table
from fictl.inspect.listing import by_source, changed, in_order, ptx_of, sass_of

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.inspect.difference import KernelDifference
    from fictl.inspect.gate import Violation
    from fictl.inspect.inspected import Inspected
    from fictl.inspect.report import InspectReport


def view(out: Console, found: InspectReport, shown: Collection[str]) -> None:
    from fictl.cli.no_ops import no_ops

    if not found.modules:
        out.print(no_ops(), markup=False, soft_wrap=True)
    for at, one in enumerate(found.modules):
        if at:
            out.print()
        if one.error:
            console.problem(one.error)
            continue
        show_table(out, one, found.launch)
        if not found.against:
            _code(out, one, shown)
    for one in found.before:
        if one.error:
            console.problem(one.error)
    if found.against:
        _changes(out, found, "sass" in shown)
    if found.gates:
        _gates(out, found)


def data_of(found: InspectReport, shown: Collection[str]) -> dict[str, Any]:
    """For --json: the code lies with its kernel."""
    data = found.to_dict()
    for one, module in zip(found.modules, data["modules"], strict=True):
        sass = sass_of(one) if {"sass", "source"} & set(shown) else {}
        ptx = ptx_of(one) if "ptx" in shown else {}
        for kernel, row in zip(one.kernels, module["kernels"], strict=True):
            if kernel.key in sass:
                row["sass"] = [
                    {"offset": each.offset, "text": each.text, "place": _place(one, each.place)}
                    for each in sass[kernel.key]
                ]
            if kernel.key in ptx:
                row["ptx"] = ptx[kernel.key]
    return data


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
        yield from (f"    {each.offset:04x}  {each.text}" for each in group.code)


def _block(out: Console, title: str, lines: Any) -> None:
    out.print()
    out.print(title, style="bold", markup=False, soft_wrap=True)
    for line in lines:
        style = "dim" if line.lstrip().startswith("//") else None
        out.print(line, markup=False, style=style, soft_wrap=True)


def _changes(out: Console, found: InspectReport, with_code: bool) -> None:
    names = short_names([each.kernel for each in found.differences])
    rows = [
        (names[each.kernel.mangled], each.kernel.arch, each.status, _numbers(each))
        for each in found.differences
    ]
    out.print(f"\nsince {found.against}", markup=False, soft_wrap=True)
    if rows:
        styles = {"changed": "yellow", "same": "dim", "new": "green", "gone": "red"}
        console.print_table(console.Table(("kernel", "arch", "", "what"), rows, styles))
    if with_code:
        for title, lines in _diffs(found, names):
            _block(out, title, lines)


def _diffs(found: InspectReport, names: dict[str, str]) -> Iterator[tuple[str, Iterator[str]]]:
    old = _codes(found.before)
    new = _codes(found.modules)
    for each in found.differences:
        if each.before and each.now and not each.same:
            before = old[each.before.key]
            now = new[each.now.key]
            title = f"{names[each.now.mangled]}  {each.now.arch}"
            yield title, changed(before, now, (found.against, "now"))


def _codes(modules: Sequence[Inspected]) -> dict[tuple[str, str, str], Any]:
    return {key: code for one in modules for key, code in sass_of(one).items()}


def _numbers(each: KernelDifference) -> str:
    if each.status == "changed" and not each.changes:
        return "other instructions, the same numbers"
    return ", ".join(
        f"{change.name} {_number(change.before)} → {_number(change.now)}" for change in each.changes
    )


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:g}"


def _gates(out: Console, found: InspectReport) -> None:
    for each in found.violations:
        _violation(out, each)
    kernels = sum(len(one.kernels) for one in found.modules)
    if not found.violations and not found.errors:
        held = ", ".join(map(str, found.gates))
        out.print(f"\n[green]✓[/] {held}: holds for {kernels} kernel{'s' * (kernels != 1)}")


def _violation(out: Console, each: Violation) -> None:
    from rich.markup import escape

    kernel = escape(f"{each.kernel.name} for {each.kernel.arch}")
    name, value = escape(each.gate.name), _number(each.value)
    wanted = escape(f"{each.gate.sign}{each.gate.wanted:g}")
    out.print(f"\n[red]✗[/] {kernel}: {name} is {value}, wanted {wanted}", soft_wrap=True)
    out.print(f"  {each.place}  {each.source}".rstrip(), markup=False, soft_wrap=True)
    if each.instruction:
        why = f"    // {each.why}" if each.why else ""
        out.print(f"  {each.instruction}{why}", markup=False, soft_wrap=True)
