"""Tables of a report as text, for terminal, Markdown and HTML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fictl.dataset.report.numbers import FAST, HIGHEST, LOWEST
from fictl.dataset.report.report import Report
from fictl.quantity import counted

CAUSES = "Failures"
NO_GPU = "no GPU was used: these times and speedups do not apply to a GPU"


@dataclass(frozen=True)
class Section:
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


def sections(report: Report) -> Iterator[Section]:
    """Yield the tables that have rows."""
    for section in (_best(report), _authors(report), _distribution(report), _causes(report)):
        if section.rows:
            yield section


def headline(report: Report) -> str:
    words = " · ".join(f"{n} {status}" for status, n in report.statuses.most_common())
    return f"{counted(len(report.results), 'result')}: {words}" if report.results else "no results"


def remarks(report: Report) -> Iterator[str]:
    if report.hardware:
        yield f"on {', '.join(report.hardware)}"
    if len(report.fast) and report.results:
        shares = "  ".join(f"fast_{factor:g} {share:.0%}" for factor, share in report.fast[1:])
        yield f"correct {_correct(report):.0%}  {shares}   (of workloads, the best solution each)"
    if report.elsewhere == len(report.results) > 0:
        yield NO_GPU
    elif report.elsewhere:
        yield f"{counted(report.elsewhere, 'result')} without a GPU, whose times do not apply to one"
    if report.untimed:
        yield f"{report.untimed} passed without a time of their reference: they count as not faster"
    if report.without:
        yield f"without a result: {counted(report.without, 'definition')}"
    if report.problems:
        yield f"unreadable: {counted(len(report.problems), 'line')}: {report.problems[0]}"


def _correct(report: Report) -> float:
    tasks = {result.task for result in report.results}
    return len({result.task for result in report.results if result.passed}) / max(len(tasks), 1)


def _best(report: Report) -> Section:
    columns = ("definition", "best solution", "author", "passed", "speedup", "range", "of")
    rows = [
        (
            standing.definition,
            standing.solution or "none",
            standing.author or "-",
            f"{standing.passed}/{standing.workloads}",
            times(standing.speedup),
            f"{times(standing.slowest)} to {times(standing.fastest)}" if standing.fastest else "-",
            str(standing.solutions),
        )
        for standing in report.best
    ]
    return Section("Best of each definition", columns, rows)


def _authors(report: Report) -> Section:
    names = [f"fast_{factor:g}" for factor in FAST]
    columns = ("author", "solutions", "workloads", "correct", *names, "speedup", "wins")
    rows = [
        (
            author.author,
            str(author.solutions),
            str(author.workloads),
            f"{author.passed:.0%}",
            *(f"{share:.0%}" for share in author.fast),
            times(author.speedup),
            f"{author.wins:.0%}",
        )
        for author in report.authors
    ]
    return Section("Authors", columns, rows)


def _distribution(report: Report) -> Section:
    most = max((count for _, _, count in report.distribution), default=1)
    rows = [
        (between(low, high), str(count), "█" * round(30 * count / most))
        for low, high, count in report.distribution
    ]
    return Section("Speedups of what passed", ("speedup", "results", ""), rows)


def between(low: float, high: float) -> str:
    """Label of a step; the outermost steps include all values beyond them."""
    if low <= 2**LOWEST:
        return f"up to {high:.2f}x"
    return f"from {low:.2f}x" if low >= 2**HIGHEST else f"{low:.2f}x to {high:.2f}x"


def _causes(report: Report) -> Section:
    columns = ("status", "count", "solutions", "cause", "for example")
    rows = [
        (cause.status, str(cause.count), str(cause.solutions), cause.cause or "-", cause.example)
        for cause in report.causes
    ]
    return Section(CAUSES, columns, rows)


def times(speedup: float) -> str:
    return f"{speedup:.2f}x" if speedup else "-"
