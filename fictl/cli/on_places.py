"""Commands with --on: one job for each op, and a bar for all of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from fictl import settings
from fictl.cli import console
from fictl.cli.places_bar import PlacesBar
from fictl.errors import UsageError
from fictl.farm.spread.observer import SpreadObserver
from fictl.quantity import counted

if TYPE_CHECKING:
    from fictl.farm.spread.command_job import CommandJob, CommandResult, SpreadResults
    from fictl.farm.spread.toolchains import CompilerChoice
    from fictl.project import OpFolder

# Each command has its own use for these, or the places have.
_NOT_PASSED_ON = {"on", "ops", "json", "verbose"}


def spread_ops(
    context: typer.Context,
    command: Sequence[str],
    folders: Sequence[OpFolder],
    on: str,
    *,
    device: str = "",
    own: Collection[str] = (),
    words: Sequence[str] = (),
    keeps: tuple[str, ...] = (),
    variables: Mapping[str, str] | None = None,
    compilers: CompilerChoice | None = None,
    also: Path | None = None,
    flag: str = "",
    quiet: bool = False,
    gpus: int = 0,
) -> SpreadResults:
    """Run the command for each op at one of the places.

    own: parameters that this machine handles. words: more arguments. device, gpus, compilers: see
    spread. variables: more environment variables. also: a folder whose files go along with the
    project's. flag: precedes the name of an op.
    """
    from fictl.farm.places_file import places_of
    from fictl.farm.spread.project_files import project_files
    from fictl.farm.spread.spread import spread

    places = places_of(on, device or settings.DEVICE.get(), max(1, gpus) if device else 0)
    given = [*_given(context, _NOT_PASSED_ON | {*own}), *words]
    asked = context.params.get("ops") or ()
    jobs = [
        _job(folder, (*command, *_words(folder, asked, flag), *given), keeps) for folder in folders
    ]
    what = f"{command[0]} of {counted(len(jobs), 'op')}"
    with project_files(folders, also) as files, _Progress(quiet) as observer:
        project = replace(files, variables={**files.variables, **(variables or {})})
        return spread(jobs, places, project, device, what, observer, compilers, gpus)


def refuse_with_on(context: typer.Context, names: Collection[str]) -> None:
    """Refuse options whose meaning is this machine's, where other machines work."""
    for parameter in context.command.params:
        if parameter.name in names and _is_given(context, parameter.name or ""):
            raise UsageError(
                f"{parameter.opts[0]} and --on exclude each other", "leave one of them out"
            )


def _words(folder: OpFolder, asked: Sequence[str], flag: str) -> Iterator[str]:
    """Yield the folder's functions that were asked for, or the folder if all were."""
    from fictl.case.selection import functions

    named = functions(folder, asked)
    is_whole = len(named) == len(folder.declarations())
    for name in [f"{folder.family}/{folder.module}"] if is_whole else sorted(named):
        yield from filter(None, (flag, f"{folder.project.name}/{name}"))


def _job(folder: OpFolder, argv: tuple[str, ...], keeps: tuple[str, ...]) -> CommandJob:
    """Make the job of one op; how long its builds took says which op takes long."""
    from fictl.farm.spread.command_job import CommandJob
    from fictl.jit.store.stores import writable_store

    name = f"{folder.project.name}/{folder.family}/{folder.module}"
    before = writable_store().entries(folder.project.name, folder.key)
    seconds = max((entry.manifest.seconds for entry in before), default=0.0)
    return CommandJob(name, argv, keeps, seconds=seconds)


def _is_given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _given(context: typer.Context, left_out: Collection[str]) -> Iterator[str]:
    """Yield the options of this command line as words."""
    for parameter in context.command.params:
        name = parameter.name or ""
        if name in left_out or not _is_given(context, name):
            continue
        value: Any = context.params[name]
        if isinstance(value, bool):
            yield parameter.opts[0] if value else parameter.secondary_opts[0]
            continue
        for one in value if isinstance(value, list | tuple) else [value]:
            yield from (parameter.opts[0], str(one))


class _Progress(PlacesBar, SpreadObserver):
    """A bar on a terminal, a line a job on a pipe."""

    def done(self, result: CommandResult, done: int, total: int) -> None:
        if self._bar.on_terminal:
            self._bar.update(done, total, f"{result.job.name} at {result.place}{self._places}")
        elif not self._quiet:
            console.note(f"{done}/{total}  {result.job.name}  at {result.place}")
