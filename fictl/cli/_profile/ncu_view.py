"""The view of ncu's digest: a paragraph per kernel, which begins with what bounds it."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

from fictl.paths import friendly
from fictl.profile.ncu.digest.stalls import COLUMNS
from fictl.profile.ncu.digest.thresholds import RULES

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.profile.ncu.digest.kernel import Digest
    from fictl.profile.ncu.report import NcuReport

_WIDTH = 15


def show(out: Console, result: NcuReport) -> None:
    head = f"{result.case} · ncu {result.version} · {result.collected}"
    out.print(f"  {head}", markup=False, style="dim", soft_wrap=True)
    for digest in result.digests:
        out.print()
        _kernel(out, digest)
    out.print()
    for note in result.notes:
        out.print("  [dim]·[/]", end=" ")
        out.print(note, markup=False, soft_wrap=True)
    pages = ", ".join(page.name.removeprefix(result.path.stem) for page in result.pages)
    out.print(f"  wrote {friendly(result.path)} and {pages}", markup=False, soft_wrap=True)


def _kernel(out: Console, digest: Digest) -> None:
    from rich.markup import escape

    out.print(f"[bold]{escape(digest.name)}[/]  {escape(_facts(digest))}", soft_wrap=True)
    if digest.is_minor:
        return
    topic = ""
    for remark in digest.remarks:
        _line(out, "" if remark.topic == topic else remark.topic, remark.text, remark.advice)
        topic = remark.topic
    _lines(out, digest)
    for number, rule in enumerate(digest.rules[:RULES]):
        kind = " of that part" if rule.local else ""
        text = f"{rule.name}, up to {rule.speedup:.0f} %{kind}: {rule.gist}"
        _line(out, "" if number else "ncu's rules", text)


def _lines(out: Console, digest: Digest) -> None:
    for number, hot in enumerate(digest.lines):
        stall = COLUMNS.get(hot.line.stall, hot.line.stall).replace("_", " ")
        waits = f", {stall}" if stall else ""
        text = f"{hot.line.place}  {hot.share:.0f} % of samples{waits}:  {hot.line.text}"
        _line(out, "" if number else "source", text)


def _facts(digest: Digest) -> str:
    launch = digest.launch
    registers = launch.get("launch__registers_per_thread")
    parts = [
        _time(launch.seconds),
        _share(digest),
        f"grid {_sizes(launch.grid)}",
        f"block {_sizes(launch.block)}",
        f"{registers:.0f} registers" if registers else "",
    ]
    return " · ".join(filter(None, parts))


def _share(digest: Digest) -> str:
    """Nothing of a kernel that is all there is."""
    if digest.launches == 1 and digest.share > 99.5:
        return ""
    times = f"{digest.launches} launches, " if digest.launches > 1 else ""
    share = f"{digest.share:.0f} %" if digest.share >= 1 else "under 1 %"
    return f"{times}{share} of the time"


def _line(out: Console, topic: str, text: str, advice: str = "") -> None:
    from rich.markup import escape

    out.print(f"  [cyan]{topic:{_WIDTH}}[/] {escape(text)}", soft_wrap=True)
    if advice:
        out.print(f"  {'':{_WIDTH}} [dim]→ {escape(advice)}[/]", soft_wrap=True)


def _sizes(sizes: Sequence[int]) -> str:
    """Spell sizes without trailing ones; `1` if there is nothing else."""
    shown = list(sizes)
    while len(shown) > 1 and shown[-1] == 1:
        shown.pop()
    return "x".join(map(str, shown)) if prod(sizes) > 1 else "1"


def _time(seconds: float | None) -> str:
    return f"{seconds * 1e6:.2f} us" if seconds is not None else ""
