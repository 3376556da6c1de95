"""The view of two profiles: a paragraph per kernel, with what changed of it and how much."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fictl.profile.ncu.digest.stalls import MEANINGS
from fictl.quantity import spell_size, spell_time

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.profile.difference.difference import (
        CaseChange,
        Change,
        KernelChange,
        ProfileDifference,
    )

_WIDTH = 10
_STALLS = 4
# Smaller changes are the difference of two runs of the same kernel.
_POINTS, _SHARE = 2.0, 0.02
_ONE_RUN = "one profiled run each: fictl compare says whether a difference of times is one"


def show(out: Console, result: ProfileDifference) -> None:
    for number, case in enumerate(result.cases):
        if number:
            out.print()
        _case(out, case)
    for word, names in (("before", result.only_before), ("after", result.only_after)):
        if names:
            out.print(f"only {word}: {', '.join(names)}", markup=False, soft_wrap=True)
    out.print(f"\n  {_ONE_RUN}", markup=False, style="dim", soft_wrap=True)


def _case(out: Console, case: CaseChange) -> None:
    time = f" · {_time(case.time)}" if case.time.before and case.time.after else ""
    out.print(f"  {case.case} · {case.tool}{time}", markup=False, style="dim", soft_wrap=True)
    for kernel in case.kernels:
        _kernel(out, kernel)


def _kernel(out: Console, kernel: KernelChange) -> None:
    from rich.markup import escape

    out.print(f"\n[bold]{escape(kernel.name)}[/]  {escape(_fate(kernel))}", soft_wrap=True)
    if kernel.before is None or kernel.after is None:
        return
    if kernel.before.name != kernel.after.name:
        _line(out, "was", kernel.before.name)
    stalls = [change for change in kernel.stalls if _is_stall(change)]
    for number, change in enumerate(stalls[:_STALLS]):
        _line(out, "" if number else "stall", _stall(change))
    moved = [_bytes(change) for change in kernel.bytes if _is_change(change)]
    launch = [_number(change) for change in kernel.numbers if _is_change(change)]
    for topic, texts in (("bytes", moved), ("launch", _sizes(kernel) + launch)):
        if texts:
            _line(out, topic, " · ".join(texts))


def _line(out: Console, topic: str, text: str) -> None:
    from rich.markup import escape

    out.print(f"  [cyan]{topic:{_WIDTH}}[/] {escape(text)}", soft_wrap=True)


def _fate(kernel: KernelChange) -> str:
    time = kernel.time
    if kernel.before is None:
        return f"new, {spell_time(time.after)}" if time.after is not None else "new"
    if kernel.after is None:
        return f"gone, {spell_time(time.before)} less" if time.before is not None else "gone"
    return _time(time)


def _time(change: Change) -> str:
    before, after = (
        "-" if value is None else spell_time(value) for value in (change.before, change.after)
    )
    ratio = f"   {change.ratio:.2f}x" if change.ratio else ""
    return f"{before} → {after}{ratio}"


def _is_stall(change: Change) -> bool:
    return abs((change.after or 0.0) - (change.before or 0.0)) >= _POINTS


def _stall(change: Change) -> str:
    before, after = change.before or 0.0, change.after or 0.0
    meaning = MEANINGS.get(change.name)
    what = f": waiting for {meaning.waits_for}" if meaning else ""
    name = change.name.replace("_", " ")
    return f"{name} {before:.0f} % → {after:.0f} % ({after - before:+.0f}){what}"


def _is_change(change: Change) -> bool:
    before, after = change.before or 0.0, change.after or 0.0
    return abs(after - before) > _SHARE * max(abs(before), abs(after))


def _bytes(change: Change) -> str:
    share = f" ({100 * (change.ratio - 1):+.0f} %)" if change.ratio is not None else ""
    return (
        f"{change.name} {spell_size(change.before or 0)} → {spell_size(change.after or 0)}{share}"
    )


def _number(change: Change) -> str:
    name = change.name.replace("_", " ")
    before, after = (
        "-" if value is None else f"{value:.3g}" for value in (change.before, change.after)
    )
    return f"{name} {before} → {after}"


def _sizes(kernel: KernelChange) -> list[str]:
    """Grid and block, where they are others."""
    assert kernel.before is not None
    assert kernel.after is not None
    pairs = {
        "grid": (kernel.before.grid, kernel.after.grid),
        "block": (kernel.before.block, kernel.after.block),
    }
    return [f"{name} {_spelt(a)} → {_spelt(b)}" for name, (a, b) in pairs.items() if a != b]


def _spelt(sizes: Sequence[int]) -> str:
    return "x".join(map(str, sizes)) or "-"
