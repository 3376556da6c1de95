"""Readable code of a kernel: SASS in its order or by source lines, or PTX."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import unified_diff

from fictl.inspect.inspected import Code, Inspected, InspectedUnit
from fictl.inspect.instruction import SassInstruction, SourcePlace
from fictl.inspect.kernel import InspectedKernel
from fictl.inspect.ptx import parse_ptx, with_lines
from fictl.inspect.sources import KernelSources

_NOWHERE = KernelSources.nowhere()


@dataclass(frozen=True)
class SourceGroup:
    """A line of the source with its instructions."""

    place: str
    text: str
    code: Code


Key = tuple[str, str, str]


def sass_of(inspected: Inspected) -> dict[Key, Code]:
    """SASS of the kernels by their keys; the disassembler runs once for each unit."""
    return {
        kernel.key: code[kernel.mangled]
        for unit, kernels in _units(inspected)
        for code in [unit.sass()]
        for kernel in kernels
    }


def ptx_of(inspected: Inspected) -> dict[Key, str]:
    sources = inspected.sources or _NOWHERE
    texts = {}
    for unit, kernels in _units(inspected):
        whole = unit.ptx()
        entries = parse_ptx(whole)

        def shown(file: str, line: int, unit: InspectedUnit = unit) -> str:
            return _described(SourcePlace(unit.portable(file), line), sources)

        for kernel in kernels:
            body = entries[kernel.mangled].text
            texts[kernel.key] = with_lines(body, whole, shown)
    return texts


def in_order(code: Code, sources: KernelSources | None) -> Iterator[str]:
    """Lines of a listing in the order of the code, below the source line of each part."""
    before: SourcePlace | None = None
    for instruction in code:
        if instruction.place and instruction.place != before:
            yield f"  // {_described(instruction.place, sources or _NOWHERE)}"
            before = instruction.place
        yield from _lines(instruction)


def by_source(code: Code, sources: KernelSources | None) -> tuple[SourceGroup, ...]:
    """Group the code by source line, file by file."""
    sources = sources or _NOWHERE
    groups: dict[SourcePlace | None, list[SassInstruction]] = {}
    for instruction in code:
        groups.setdefault(instruction.place, []).append(instruction)
    order = sorted(groups, key=lambda at: (at is None, (at.file, at.line) if at else ("", 0)))
    return tuple(
        SourceGroup(sources.shown(at), sources.text(at) if at else "", tuple(groups[at]))
        for at in order
    )


def changed(before: Code, now: Code, labels: tuple[str, str]) -> Iterator[str]:
    """Diff of instructions without their offsets, which every insertion changes."""
    texts = (
        [line for one in code for line in _lines(one, offsets=False)] for code in (before, now)
    )
    old, new = texts
    return (line.rstrip("\n") for line in unified_diff(old, new, *labels, lineterm=""))


def _units(inspected: Inspected) -> Iterator[tuple[InspectedUnit, list[InspectedKernel]]]:
    wanted = {kernel.key for kernel in inspected.kernels}
    for unit in inspected.units:
        kernels = [kernel for kernel in unit.kernels if kernel.key in wanted]
        if kernels:
            yield unit, kernels


def _lines(instruction: SassInstruction, offsets: bool = True) -> Iterator[str]:
    if instruction.label:
        yield f"{instruction.label}:" if offsets else "label:"
    yield (
        f"    {instruction.offset:04x}  {instruction.text}"
        if offsets
        else f"    {instruction.plain}"
    )


def _described(place: SourcePlace, sources: KernelSources) -> str:
    return f"{sources.shown(place)}  {sources.text(place)}".rstrip()
