"""The code of a kernel as people read it: SASS in its order, by lines of the source, or PTX."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import unified_diff

from fictl.inspect.inspected import Code, Inspected, InspectedUnit
from fictl.inspect.instruction import Instruction, SourcePlace
from fictl.inspect.kernel import InspectedKernel
from fictl.inspect.ptx import parse_ptx, with_lines
from fictl.inspect.sources import KernelSources

_NOWHERE = KernelSources.nowhere()


@dataclass(frozen=True)
class SourceGroup:
    """What one line of the source became."""

    place: str
    text: str
    code: Code


Key = tuple[str, str, str]


def sass_of(found: Inspected) -> dict[Key, Code]:
    """By the key of each kernel; the disassembler runs once a unit."""
    return {
        kernel.key: code[kernel.mangled]
        for unit, kernels in _units(found)
        for code in [unit.sass()]
        for kernel in kernels
    }


def ptx_of(found: Inspected) -> dict[Key, str]:
    sources = found.sources or _NOWHERE
    texts = {}
    for unit, kernels in _units(found):
        whole = unit.ptx()
        entries = parse_ptx(whole)

        def shown(file: str, line: int, unit: InspectedUnit = unit) -> str:
            return _described(SourcePlace(unit.portable(file), line), sources)

        for kernel in kernels:
            body = entries[kernel.mangled].text
            texts[kernel.key] = with_lines(body, whole, shown)
    return texts


def in_order(code: Code, sources: KernelSources | None) -> Iterator[str]:
    """Each line of the source above what it became, as often as the order comes back to it."""
    before: SourcePlace | None = None
    for each in code:
        if each.place and each.place != before:
            yield f"  // {_described(each.place, sources or _NOWHERE)}"
            before = each.place
        yield from _lines(each)


def by_source(code: Code, sources: KernelSources | None) -> tuple[SourceGroup, ...]:
    """Each line of the source once, file by file."""
    sources = sources or _NOWHERE
    groups: dict[SourcePlace | None, list[Instruction]] = {}
    for each in code:
        groups.setdefault(each.place, []).append(each)
    order = sorted(groups, key=lambda at: (at is None, (at.file, at.line) if at else ("", 0)))
    return tuple(
        SourceGroup(sources.shown(at), sources.text(at) if at else "", tuple(groups[at]))
        for at in order
    )


def changed(before: Code, now: Code, labels: tuple[str, str]) -> Iterator[str]:
    """A diff of instructions, without the offsets, which every insertion moves."""
    texts = (
        [line for each in code for line in _lines(each, offsets=False)] for code in (before, now)
    )
    old, new = texts
    return (line.rstrip("\n") for line in unified_diff(old, new, *labels, lineterm=""))


def _units(found: Inspected) -> Iterator[tuple[InspectedUnit, list[InspectedKernel]]]:
    wanted = {kernel.key for kernel in found.kernels}
    for unit in found.units:
        kernels = [each for each in unit.kernels if each.key in wanted]
        if kernels:
            yield unit, kernels


def _lines(each: Instruction, offsets: bool = True) -> Iterator[str]:
    if each.label:
        yield f"{each.label}:" if offsets else "label:"
    yield f"    {each.offset:04x}  {each.text}" if offsets else f"    {each.plain}"


def _described(place: SourcePlace, sources: KernelSources) -> str:
    return f"{sources.shown(place)}  {sources.text(place)}".rstrip()
