"""fictl cache explain: hit or miss, why the stored build was manifest, and what changed since."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fictl.cli import console
from fictl.cli.options import Archs, Device, Json, Ops, Verbose, use_device
from fictl.paths import friendly

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.jit.cache.cause import BuildCause
    from fictl.jit.cache.changes import Change
    from fictl.jit.cache.explain import BuildVerdict


EXAMPLES = {
    "fictl cache explain rmsnorm": "which file, which line",
    "fictl cache explain rmsnorm --arch 9.0a --json": "for another architecture, for a program",
}


def command(
    ops: Ops = None,
    arch: Archs = "",
    device: Device = "",
    verbose: Verbose = False,
    json: Json = False,
) -> None:
    """Explain for each module of an op why its build was made, or which input has changed since."""
    from fictl.arch import parse_archs
    from fictl.builds.cached import explain_ops
    from fictl.toolchain import native_targets

    use_device(device, arch)
    verdicts = explain_ops(ops or [], parse_archs(arch, native_targets))
    data = [verdict.to_dict() for verdict in verdicts]
    console.show(console.Result(data, lambda out: _view(out, verdicts, verbose)))


def _view(out: Console, verdicts: list[BuildVerdict], verbose: bool) -> None:
    for verdict in verdicts:
        name = _name(verdict)
        if verdict.hit:
            out.print(
                f"[green]hit[/]   {name}  {_built(verdict)}{_because(verdict)}", soft_wrap=True
            )
            for change in _listed(verdict, verbose):
                _change(out, change, verbose)
            if verbose and verdict.entry:
                out.print(f"  {friendly(verdict.entry.path)}", style="dim", soft_wrap=True)
            continue
        out.print(f"[yellow]miss[/]  {name}  {verdict.why or _since(verdict)}", soft_wrap=True)
        for change in verdict.changes:
            _change(out, change, verbose)
        if verdict.changes and verdict.unchanged:
            out.print(f"  unchanged: {', '.join(verdict.unchanged)}", style="dim")


def _change(out: Console, change: Change, verbose: bool) -> None:
    name = _shown(change.name)
    kind = "" if change.kind in (change.name, "source", "header") else f"{change.kind} "
    out.print(f"  {kind}{name} {change.how}", markup=False, soft_wrap=True)
    if verbose and change.diff:
        for line in change.diff.splitlines():
            style = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "dim")
            out.print(f"    {line}", markup=False, style=style, soft_wrap=True)


def _shown(name: str) -> str:
    """A file below the working folder as one would open it from here."""
    here = f"{Path.cwd()}{os.sep}"
    return name.removeprefix(here) if name.startswith(here) else friendly(name)


def _name(verdict: BuildVerdict) -> str:
    given = ", ".join(f"{name}={value}" for name, value in verdict.parameters.items())
    return f"[bold]{verdict.project}/{verdict.module}[/]{f' ({given})' if given else ''}"


def _built(verdict: BuildVerdict) -> str:
    from rich.markup import escape

    manifest = verdict.entry.manifest if verdict.entry else None
    if manifest is None:
        return ""
    targets = " ".join(manifest.archs) or manifest.device
    if "wheel" in manifest.origin:
        return f"{targets}, from the wheel {escape(manifest.origin['wheel'])}"
    if manifest.origin:
        return f"{targets}, fetched {_clock(manifest.created)} {_origin(manifest.origin)}"
    return f"{targets}, built {_clock(manifest.created)} in {manifest.seconds:.1f} s"


def _origin(origin: dict[str, str]) -> str:
    """Say where a build was fetched from, and who signed it."""
    from rich.markup import escape

    key = (
        f"signed by {origin['key']} ({origin.get('key_id', '')})"
        if origin.get("key")
        else "unsigned, from a folder of yours"
    )
    return escape(f"from {origin.get('url', '?')}, {key}")


def _because(verdict: BuildVerdict) -> str:
    """`because scale.cuh changed (line 3) since the build of 14:02`, or the reason in few words."""
    from rich.markup import escape

    cause = verdict.cause
    if cause is None or (verdict.entry and verdict.entry.manifest.origin):
        return ""
    if not cause.known:
        return f"; why is {cause.summary}"
    if cause.previous is None or cause.is_first:
        return f": {cause.summary}"
    since = f"since the build of {_clock(cause.previous.created)}"
    if _is_one_file(cause):
        (change,) = cause.changes
        return f" because {escape(_shown(change.name))} {change.how} {since}"
    return f": {escape(cause.summary)} {since}"


def _is_one_file(cause: BuildCause) -> bool:
    return len(cause.changes) == 1 and cause.changes[0].kind in ("source", "header")


def _listed(verdict: BuildVerdict, verbose: bool) -> Sequence[Change]:
    """The changes below a hit's line: all of them, unless the line has said enough."""
    cause = verdict.cause
    if cause is None or (not verbose and (cause.is_first or _is_one_file(cause))):
        return ()
    return cause.changes


def _since(verdict: BuildVerdict) -> str:
    manifest = verdict.entry.manifest if verdict.entry else None
    return f"since the build of {_clock(manifest.created)}:" if manifest else ""


def _clock(when: float) -> str:
    """`14:02` today, with the day before that."""
    then, now = time.localtime(when), time.localtime()
    same_day = then[:3] == now[:3]
    return time.strftime("%H:%M" if same_day else "%Y-%m-%d %H:%M", then)
