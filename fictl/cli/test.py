"""fictl test: run an op's tests."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fictl.cli import console
from fictl.cli.gpu_use import Wait, together
from fictl.cli.no_ops import no_ops
from fictl.cli.numbers import seconds, whole
from fictl.cli.on_places import spread_ops
from fictl.cli.options import Device, Json, Keyword, Locked, On, Ops, Schedule, use_device
from fictl.cli.outputs import writes_file
from fictl.cli.strict import PASSED_ON
from fictl.errors import UsageError
from fictl.quantity import counted
from fictl.user_file import write_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from fictl.cli.late_bar import LateBar
    from fictl.project import OpFolder
    from fictl.report.cause import FailureCause
    from fictl.report.test_report import TestReport
    from fictl.testing.runner.journal import Journal


Case = Annotated[
    str,
    typer.Option(
        "--case", metavar="CASE", help="Run only this generated test.", show_default=False
    ),
]
Changed = Annotated[
    bool,
    typer.Option(
        "--changed",
        help="Test only ops changed since HEAD, or since a revision given as argument.",
        show_default=False,
    ),
]
Parallel = Annotated[
    str,
    typer.Option(
        "-n",
        metavar="auto|N",
        help="Number of processes, spread over GPUs or, emulated, over cores.",
        show_default=False,
    ),
]
Gpus = Annotated[
    int | None,
    whole(
        "--gpus", low=1, high=1024, help="Run tests marked gpus(N), in N ranks.", show_default=False
    ),
]
Seed = Annotated[
    int | None,
    whole(
        "--seed",
        low=1,
        high=2**31 - 1,
        help="Seed of random inputs; the line that repeats a failure has it.",
        show_default=False,
    ),
]
Timeout = Annotated[float, seconds("--timeout", help="Time limit of one test, in seconds.")]
RequireArch = Annotated[
    bool,
    typer.Option(
        "--require-arch",
        help="Fail, rather than skip, tests that lack a GPU, an architecture or nvcc.",
        show_default=False,
    ),
]
JUnit = Annotated[
    Path | None,
    typer.Option(
        "--junit",
        metavar="FILE",
        help="Also write a JUnit XML file.",
        callback=writes_file,
        show_default=False,
    ),
]


# What follows -- is for pytest.
PASSES_ON = True
EXAMPLES = {
    "fictl test swish": "one op; without a GPU, on the emulated device",
    "fictl test --changed main": "only ops that changed since a branch",
    "fictl test swish -k bf16 --device emu --schedule reverse": "some tests, emulated, in another order of threads",
    "fictl test swish -- -x --lf --pdb -s": "what follows -- is for pytest: here, debug what failed last",
}


def command(
    context: typer.Context,
    ops: Ops = None,
    keyword: Keyword = "",
    case: Case = "",
    device: Device = "",
    schedule: Schedule = "",
    changed: Changed = False,
    parallel: Parallel = "",
    gpus: Gpus = None,
    seed: Seed = None,
    timeout: Timeout = 300.0,
    require_arch: RequireArch = False,
    wait: Wait = None,
    on: On = "",
    junit: JUnit = None,
    locked: Locked = False,
    json: Json = False,
) -> None:
    """Test ops: run their tests, build them, and compare them with their references.

    Without a GPU, they run on the emulated device.
    """
    from fictl import settings
    from fictl.cli.late_bar import LateBar
    from fictl.report.test_report import TestReport
    from fictl.testing.device import choose_device, is_asked_for, require_device
    from fictl.testing.runner.request import TestRequest

    use_device(device)
    chosen = choose_device(settings.DEVICE.get() if device else "")
    if schedule:
        settings.EMU_SCHEDULE.set_by_flag("--schedule", schedule)
    passed_on = context.meta.get(PASSED_ON, ())
    wanted, nothing = _select(ops or [], changed)
    if nothing:
        console.show(console.Result(TestReport(device=chosen).to_dict(), nothing))
        return
    if on:
        if passed_on:
            raise UsageError(
                "words after -- are for the pytest of this machine, and --on names others",
                "-k, --case, --seed and --timeout are passed on to them",
            )
        _spread(context, wanted, on, chosen, require_arch, junit, json, gpus or 0)
        return
    if is_asked_for():
        require_device(chosen, wanted if ops else ())
    request = TestRequest(
        wanted,
        chosen,
        schedule=settings.EMU_SCHEDULE.get() if schedule else "",
        keyword=keyword,
        case=case,
        parallel=parallel,
        gpus=gpus or 0,
        timeout=timeout,
        require_arch=require_arch,
        seed=seed,
        passed_on=passed_on,
    )
    used = together(wait, chosen, request.gpus_in_use, request.gpus)
    with used as held, LateBar() as bar:
        say = (lambda line: None) if json else console.note
        request = replace(request, chosen=held)
        tell = (lambda journal: None) if request.is_attached else partial(_tell, bar)
        report = request.run(say, tell)
    if junit:
        from fictl.report.junit import to_junit

        write_text("--junit", junit, to_junit(report))
    # What the machine cannot do is a failure, where it has to.
    code = min(report.exit_code, 1) if require_arch else report.exit_code
    names = " ".join(ops or [])
    data = report.to_dict()
    console.show(console.Result(data, lambda out: _view(out, report, names, code), code))


def _spread(
    context: typer.Context,
    wanted: Sequence[OpFolder],
    on: str,
    device: str,
    require_arch: bool,
    junit: Path | None,
    quiet: bool,
    gpus: int,
) -> None:
    """Test each op at one of the places."""
    from fictl.farm.spread.merged import errors_of, places_of_tests, tests

    results = spread_ops(
        context,
        ("test",),
        wanted,
        on,
        device=device,
        own={"changed", "junit", "device"},
        words=("--device", device),
        quiet=quiet,
        gpus=gpus,
    )
    report = tests(results.results, results.seconds)
    if junit:
        from fictl.report.junit import to_junit

        write_text("--junit", junit, to_junit(report))
    errors = errors_of(results)
    code = min(report.exit_code, 1) if require_arch else report.exit_code
    code = max([code if report.tests else 0, *(error.exit_code for error in errors)])
    places = places_of_tests(results.results)
    data = report.to_dict()
    data["tests"] = [{**test, "place": places[test["test"]]} for test in data["tests"]]
    data["left_out"] = [*results.left_out]

    def view(out: Console) -> None:
        if report.tests:
            _view(out, report, "", report.exit_code)
        for error in errors:
            console.problem(error)

    console.show(console.Result(data, view, code, next(iter(errors), None)))


def _tell(bar: LateBar, journal: Journal) -> None:
    """Show the journal's progress; threads that watch pytest call it one at a time."""
    running = next(iter(journal.running.values()), None)
    what = running.test.rpartition("::")[2][:48] if running else ""
    bar.update(len(journal.outcomes), journal.total or None, what)


def _select(words: Sequence[str], changed: bool) -> tuple[tuple[OpFolder, ...], str]:
    """The ops to test, or why there is none."""
    from fictl.builds.changed import changed_since, split_words
    from fictl.project import Project, select

    names, revision = split_words(words) if changed else (words, "")
    wanted = select(names, [] if names else [Project.at()])
    if changed:
        wanted = changed_since(revision, wanted)
        if wanted:
            console.note(
                f"changed since {revision}: {' '.join(folder.module for folder in wanted)}"
            )
        return wanted, "" if wanted else f"no op has changed since {revision}"
    return wanted, "" if wanted else no_ops()


def _view(out: Console, report: TestReport, ops: str, code: int) -> None:
    from fictl.report.cause import causes
    from fictl.report.outcome import remedy

    mark = {0: "[green]✓[/]", 1: "[red]✗[/]", 3: "[yellow]![/]"}[code]
    failed, full = len(report.failed), len(report.out_of_memory)
    count = len(report.schedules)
    parts = [
        f"{report.passed} passed",
        *([f"[red]{failed} failed[/]"] if failed else []),
        *([f"[yellow]{full} out of memory[/]"] if full else []),
        *([f"{count} schedule{'s' if count > 1 else ''}"] if count else []),
    ]
    device = "   emulated: no GPU was used" if report.device == "emu" else ""
    gpus = f"   {report.gpus}" if report.gpus else ""
    out.print(f"{mark} {' · '.join(parts)}   {report.seconds:.1f} s{device}{gpus}")
    for cause in causes((*report.failed, *report.out_of_memory)):
        _show(out, cause)
    for reason, skipped in sorted(report.skipped.items()):
        way = remedy(reason, ops)
        end = f": {way}" if way else ""
        out.print(f"  not run here: {skipped} ({reason}){end}", markup=False, soft_wrap=True)


def _show(out: Console, cause: FailureCause) -> None:
    from rich.markup import escape

    outcome = cause.first
    colour = "red" if outcome.outcome == "failed" else "yellow"
    # A test's id has brackets, which are not rich's.
    text = escape(f"{outcome.test}  {outcome.reason}".rstrip())
    out.print(f"  [{colour}]{outcome.outcome}[/] {text}", soft_wrap=True)
    if outcome.command:
        out.print(f"    {outcome.command}", markup=False, soft_wrap=True)
    if cause.others:
        others = counted(cause.others, "test")
        out.print(f"    and {others} more of this cause; --json lists them", markup=False)
