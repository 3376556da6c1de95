"""`fictl compare --on`: both sides of an op at one place, in the same rounds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from fictl import settings
from fictl.cli import console
from fictl.cli.on_places import spread_ops
from fictl.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.bench.compare.outcome import CompareOutcome
    from fictl.bench.compare.request import CompareRequest
    from fictl.farm.spread.revisions import SentRevisions

_OWN = {"what", "device"}


def compared_at(
    context: typer.Context,
    what: Sequence[str],
    ops: Sequence[str],
    on: str,
    view_of: Callable[[Console, CompareOutcome], None],
    quiet: bool,
) -> console.Result:
    """Compare each op at one of the places; `view_of` shows the outcome of a place."""
    from fictl.bench.compare.request import RESULTS, understand
    from fictl.farm.spread.compared import comparisons, exit_code
    from fictl.farm.spread.merged import errors_of
    from fictl.project import Project, select

    wanted = understand(what, ops)
    if wanted.kind == RESULTS:
        raise UsageError(
            "two stored results are compared here: nothing runs at places", "leave --on out"
        )
    device = settings.DEVICE.get()
    with _revisions(wanted, ops) as (sent, folder):
        results = spread_ops(
            context,
            ("compare", *sent.words),
            select(ops, [] if ops else [Project.at()]),
            on,
            device=device,
            own=_OWN,
            words=("--device", device),
            also=folder,
            flag="--op",
            quiet=quiet,
        )
    compared, errors = comparisons(results.results, sent.labels), errors_of(results)

    def view(out: Console) -> None:
        for one in compared:
            out.print(f"[bold]{one.place}[/]")
            view_of(out, one.outcome)
        for error in errors:
            console.problem(error)

    code = max([exit_code(compared), *(error.exit_code for error in errors)])
    data = {
        "comparisons": [one.to_dict() for one in compared],
        "left_out": [*results.left_out],
    }
    return console.Result(data, view, code, next(iter(errors), None))


@contextmanager
def _revisions(
    wanted: CompareRequest, ops: Sequence[str]
) -> Iterator[tuple[SentRevisions, Path | None]]:
    """Yield the words of A and B for a place, and what it needs to understand them."""
    from fictl.bench.compare.request import REVISIONS
    from fictl.farm.own_folder import own_folder
    from fictl.farm.spread.revisions import SentRevisions, sent_revisions
    from fictl.project.revision import project_of
    from fictl.removal import remove

    if wanted.kind != REVISIONS:
        yield SentRevisions((wanted.a, wanted.b), {}), None
        return
    folder = own_folder("revisions")
    try:
        yield sent_revisions(project_of(ops), (wanted.a, wanted.b), folder), folder
    finally:
        remove(folder)
