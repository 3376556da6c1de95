"""fictl history: times of ops over the commits of their project."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fictl.cli import console
from fictl.cli._bench import options as flags
from fictl.cli.numbers import whole
from fictl.cli.options import DryRun, Json, Ops
from fictl.cli.outputs import writes_files_and_folders
from fictl.cli.shares import share
from fictl.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fictl.bench.history.keeping import HistoryKeeping
    from fictl.bench.history.levels import HistorySeries
    from fictl.project import OpFolder, Project

EXAMPLES = {
    "fictl history rmsnorm": "its times over commits, with the verdicts of fictl compare",
    "fictl history rmsnorm --add now.json": "keep a result of fictl bench --out",
    "fictl history --branch benchmarks --out history.html": "all ops, from a branch, drawn",
}


def command(
    ops: Ops = None,
    add: Annotated[
        list[Path] | None,
        typer.Option(
            "--add",
            metavar="FILE",
            help="Keep this result of fictl bench --out; repeatable.",
            show_default=False,
        ),
    ] = None,
    commit: Annotated[
        str,
        typer.Option(
            "--commit",
            metavar="REVISION",
            help="Commit of what is added; default: the one that the result names.",
        ),
    ] = "",
    branch: Annotated[
        str,
        typer.Option(
            "--branch",
            metavar="NAME",
            help="Branch that keeps it; default: benchmarks/ of the working tree.",
        ),
    ] = "",
    case: flags.Case = "",
    last: Annotated[
        int, whole("--last", low=1, high=100_000, help="Number of commits to show.")
    ] = 20,
    threshold: Annotated[
        str,
        typer.Option(
            "--threshold", metavar="SHARE", help="Smallest difference that counts: '1%' or 0.01."
        ),
    ] = "1%",
    out: Annotated[
        list[Path] | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="Also write .md, .csv, .json, .svg, .html or .png; repeatable.",
            callback=writes_files_and_folders,
            show_default=False,
        ),
    ] = None,
    file_format: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="Format of --out, if its ending names none: markdown, csv, json, plot.",
        ),
    ] = "",
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Show the times of ops over commits: each is compared with the first of its level.

    A level begins where a commit is FASTER or SLOWER, so that small losses add up.
    """
    from fictl.bench.history.record import add as append
    from fictl.bench.history.record import additions
    from fictl.bench.written.history_files import formats_of, write_history
    from fictl.cli._history.view import HistoryView
    from fictl.project import Project, select
    from fictl.project.revision import project_of

    limit, files = share("--threshold", threshold), formats_of(out or [], file_format)
    if commit and not add:
        raise UsageError("--commit is of what --add adds", "leave it out")
    folders = select(ops or [], [] if ops else [Project.at()])
    kept = _keeping(project_of(ops or []), branch)
    new = additions(kept, add or [], folders, commit)
    if not dry_run:
        append(kept, new)
    series = _series(kept, folders, case, last, limit, is_empty=bool(new))
    if not dry_run:
        write_history(series, files)
    data = {
        "kept": kept.label,
        "added": [
            {"file": one.name, "commit": one.entry.commit.sha, "is_there": one.is_there}
            for one in new
        ],
        "series": [one.to_dict() for one in series],
    }
    console.show(console.Result(data, HistoryView(kept.label, series, new, dry_run)))


def _keeping(project: Project, branch: str) -> HistoryKeeping:
    from fictl.bench.history.branch_history import BranchHistory
    from fictl.bench.history.keeping import FolderHistory

    return BranchHistory(project, branch) if branch else FolderHistory(project)


def _series(
    kept: HistoryKeeping,
    folders: Sequence[OpFolder],
    case: str,
    last: int,
    threshold: float,
    *,
    is_empty: bool,
) -> list[HistorySeries]:
    """Return the series of the cases; `is_empty`: there may be none."""
    from dataclasses import replace

    from fictl.bench.history.levels import series_of
    from fictl.bench.history.record import read_entries
    from fictl.errors import SetupError

    parts = [part.strip() for part in case.split(",")]
    judged = series_of(read_entries(kept, folders), threshold)
    wanted = [one for one in judged if any(part in one.case for part in parts)]
    if not wanted and not is_empty:
        names = ", ".join(str(folder) for folder in folders[:3])
        raise SetupError(
            f"there is no history of {names or 'any op'} in {kept.label}",
            "fictl bench OP --out now.json, then fictl history OP --add now.json; "
            "--branch NAME reads a branch",
        )
    return [replace(one, points=one.points[-last:]) for one in wanted]
