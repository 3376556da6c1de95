"""The option --remote, and what show, gc and verify print of a remote."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fictl.cli import console
from fictl.errors import FictlError
from fictl.quantity import counted, spell_age, spell_size

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.builds.remote_store import RemoteContents, Shared
    from fictl.jit.remote.audit import Audit
    from fictl.jit.remote.sweep import Swept

Remote = Annotated[
    bool,
    typer.Option(
        "--remote",
        help="Of the remotes of FICTL_REMOTE, not of the cache here.",
        show_default=False,
    ),
]
_COLUMNS = ("op", "recipe", "build", "signed by", "sent", "remote")
_DIGITS = 12


def show(contents: RemoteContents) -> console.Result:
    return console.Result(contents.to_dict(), lambda out: _contents(out, contents))


def _contents(out: Console, contents: RemoteContents) -> None:
    if contents.builds:
        rows = [_row(shared) for shared in contents.builds]
        console.print_table(
            console.Table(_COLUMNS, rows, {"unknown": "yellow", "nobody": "yellow"})
        )
    for url, size in contents.sizes.items():
        here = sum(shared.url == url for shared in contents.builds)
        blobs = counted(contents.blobs[url], "blob")
        line = f"{counted(here, 'build')} · {blobs} · {spell_size(size)} at {url}"
        out.print(line, markup=False, soft_wrap=True)


def _row(shared: Shared) -> tuple[str, ...]:
    it = shared.candidate
    unknown = "unknown " if it.keys and not shared.is_trusted else ""
    who = "you (own folder)" if shared.own else " ".join(shared.signers) or "nobody"
    return (
        f"{it.project}/{it.module}",
        it.folder.rpartition("/")[2][:_DIGITS],
        it.build[:_DIGITS],
        f"{unknown}{who}",
        f"{spell_age(time.time() - shared.listed.changed)} ago",
        shared.url,
    )


def sweep(results: list[Swept], dry_run: bool) -> console.Result:
    data = {"dry_run": dry_run, "remotes": [_swept(swept) for swept in results]}
    return console.Result(data, lambda out: _sweeps(out, results, dry_run))


def _swept(swept: Swept) -> dict[str, Any]:
    kinds = {
        "builds": swept.documents,
        "signatures": swept.signatures,
        "blobs": swept.blobs,
        "unfinished": swept.unfinished,
    }
    names = {kind: [entry.name for entry in entries] for kind, entries in kinds.items()}
    return {"url": swept.url, "freed": swept.freed, "left": swept.left, **names}


def _sweeps(out: Console, results: list[Swept], dry_run: bool) -> None:
    for swept in results:
        if dry_run:
            for entry in swept.removed:
                out.print(f"  {entry.name}", markup=False, style="dim", soft_wrap=True)
        verb = "would remove" if dry_run else "removed"
        what = f"{counted(len(swept.documents), 'build')}, {counted(len(swept.blobs), 'blob')}"
        if swept.unfinished:
            what += f", {counted(len(swept.unfinished), 'unfinished file')}"
        sizes = f"{spell_size(swept.freed)} · {spell_size(swept.left)} left"
        out.print(f"{verb} {what}: {sizes} at {swept.url}", markup=False, soft_wrap=True)


def audit(results: list[Audit]) -> console.Result:
    broken = [one for result in results for one in result.broken]
    error = None
    if broken:
        count = sum(len(result.documents) for result in results)
        hint = (
            "remove the files that are named, and fictl cache push sends them again; a bucket that "
            "others can write may be poisoned"
        )
        error = FictlError(f"{len(broken)} of {counted(count, 'build')} are damaged", hint)
    data = {"remotes": [_audited(result) for result in results]}
    return console.Result(data, lambda out: _audits(out, results, error), int(bool(broken)), error)


def _audited(result: Audit) -> dict[str, Any]:
    documents = [
        {
            "document": one.candidate.name,
            "problem": one.problem,
            "signatures": [verdict.__dict__ for verdict in one.verdicts],
        }
        for one in result.documents
    ]
    differing = [[one.candidate.name for one in group] for group in result.differing]
    return {
        "url": result.url,
        "blobs": result.blobs,
        "documents": documents,
        "not_reproducible": differing,
    }


def _audits(out: Console, results: list[Audit], error: FictlError | None) -> None:
    def line(text: str) -> None:
        out.print(text, markup=False, soft_wrap=True)

    for result in results:
        for one in result.broken:
            line(f"damaged {one.candidate.name}: {one.problem}")
        for one in result.documents:
            strangers = [v.text for v in one.verdicts if not v.is_trusted and not one.problem]
            if strangers and not one.trusted_by:
                line(f"! {one.candidate.name}: {strangers[0]}")
        for group in result.differing:
            it = group[0].candidate
            makers = ", ".join(" ".join(one.trusted_by) or "unknown" for one in group)
            line(f"! {it.project}/{it.module} build {it.build[:_DIGITS]} is not reproducible:")
            line(f"    {len(group)} documents have different bytes (signed by {makers})")
        builds = counted(len(result.documents), "build")
        line(f"{builds} and {counted(result.blobs, 'blob')} read at {result.url}")
    if error:
        console.problem(error)
