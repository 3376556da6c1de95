"""Entries of a history: read from where they are kept, and added to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from fictl.bench.history.entry import HistoryEntry
from fictl.bench.history.keeping import SUFFIX, Change, HistoryKeeping
from fictl.bench.result import BenchReport, load
from fictl.bench.stored import machine_folder
from fictl.errors import SetupError, UsageError
from fictl.paths import friendly
from fictl.project import OpFolder, Project
from fictl.project.commit import CHANGED, Commit, commit_at


@dataclass(frozen=True)
class Addition:
    """An entry, and the file that it belongs to; `is_there` if the file has it."""

    name: str
    entry: HistoryEntry
    is_there: bool


def read_entries(kept: HistoryKeeping, folders: Sequence[OpFolder]) -> list[HistoryEntry]:
    """Read the entries of these ops, with the rows of other ops left out."""
    wanted = {str(folder) for folder in folders}
    entries = (
        HistoryEntry.from_line(line, f"{kept.label}: {name}:{number}")
        for name, text in kept.read().items()
        for number, line in enumerate(text.splitlines(), 1)
        if line.strip()
    )
    return [entry for entry in entries if {row.op for row in entry.report.rows} <= wanted]


def additions(
    kept: HistoryKeeping, paths: Sequence[Path], folders: Sequence[OpFolder], revision: str
) -> list[Addition]:
    """Make entries of results, for the commit that they were measured at, or for `revision`."""
    texts = kept.read()
    added = []
    for path in paths:
        report = load(path)
        _require_times(report, path)
        ops = [folder for folder in folders if any(row.op == str(folder) for row in report.rows)]
        if not ops:
            raise UsageError(
                f"{friendly(path)} has no row of {', '.join(map(str, folders))}",
                f"it is of {', '.join(dict.fromkeys(row.op for row in report.rows)) or 'no op'}",
            )
        for folder in ops:
            commit = _commit(report, path, folder.project, revision)
            entry = HistoryEntry.of(commit, report, str(folder))
            name = f"{machine_folder(report.environment)}/{folder.module}{SUFFIX}"
            there = entry.to_line() in texts.get(name, "").splitlines(keepends=True)
            added.append(Addition(name, entry, there))
    return added


def add(kept: HistoryKeeping, new: Sequence[Addition]) -> None:
    """Append the entries that are not there; nothing is written if all are."""
    missing = [addition for addition in new if not addition.is_there]
    changes = dict(_changes(missing))
    if changes:
        shorts = ", ".join(dict.fromkeys(addition.entry.commit.short for addition in missing))
        kept.write(changes, f"bench: times of {shorts}")


def _changes(missing: Sequence[Addition]) -> Iterator[tuple[str, Change]]:
    for name in dict.fromkeys(addition.name for addition in missing):
        lines = [one.entry.to_line() for one in missing if one.name == name]
        yield name, _appended("".join(lines))


def _appended(lines: str) -> Change:
    def change(text: str) -> str:
        between = "\n" if text and not text.endswith("\n") else ""
        return f"{text}{between}{lines}"

    return change


def _require_times(report: BenchReport, path: Path) -> None:
    if report.environment.device != "cuda" or not report.environment.gpu:
        raise UsageError(
            f"{friendly(path)} was measured on the emulated device: these are no times of a GPU",
            "a history is of one that fictl bench has measured on a GPU",
        )


def _commit(report: BenchReport, path: Path, project: Project, revision: str) -> Commit:
    if revision:
        return commit_at(project, revision)
    state = report.environment.sources.get(project.name, "")
    if not state:
        raise SetupError(
            f"{friendly(path)} does not say which commit of {project.name} it was measured at",
            "--commit REVISION says so",
        )
    if state.endswith(CHANGED):
        raise UsageError(
            f"{friendly(path)} was measured with changes that {state[:7]} does not have",
            "commit, then measure; or --commit REVISION, if they do not matter",
        )
    return commit_at(project, state)
