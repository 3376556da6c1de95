"""A comparison as Markdown, for a pull request: what needs a look is shown, the rest is folded."""

from __future__ import annotations

from collections.abc import Iterator

from fictl.bench.compare.outcome import Compared, CompareOutcome
from fictl.bench.written.compared_cells import absent, cells, energy, mark, summary
from fictl.bench.written.markdown_text import MOST_ROWS, folded, plain, table
from fictl.timing.verdict import Verdict

# By which a program finds its comment, to replace it.
_MARKER = "<!-- fictl compare -->"


def compared_markdown(outcome: CompareOutcome) -> str:
    return "\n".join(_lines(outcome)) + "\n"


def _lines(outcome: CompareOutcome) -> Iterator[str]:
    yield _MARKER
    yield f"### {mark(outcome)} fictl compare: {plain(summary(outcome))}"
    yield ""
    yield (
        f"**{plain(outcome.a)}** → **{plain(outcome.b)}** · {plain(outcome.where)} · "
        f"{plain(outcome.how)} · threshold {outcome.threshold:.1%}"
    )
    same = [case for case in outcome.cases if case.comparison.verdict is Verdict.SAME]
    others = [case for case in outcome.cases if case.comparison.verdict is not Verdict.SAME]
    if others:
        yield from ("", *_table(outcome, others))
    if same:
        yield from ("", *folded(f"{len(same)} SAME", [*_table(outcome, same)]))
    left_out = [f"- {plain(name)}: {plain(why)}" for name, why in absent(outcome)]
    if left_out:
        yield from ("", "Not compared:", "", *left_out[:MOST_ROWS])
    if outcome.notes:
        yield from ("", *(f"- note: {plain(note)}" for note in outcome.notes))


def _table(outcome: CompareOutcome, cases: list[Compared]) -> Iterator[str]:
    has_energy = any(case.joules for case in cases)
    columns = ["case", plain(outcome.a), plain(outcome.b), "B / A", "95 % interval"]
    rows = [[*map(plain, cells(case))] for case in cases]
    if has_energy:
        columns.append("energy")
        rows = [[*row, plain(energy(case))] for row, case in zip(rows, cases, strict=True)]
    verdicts = (_verdict(case) for case in cases)
    rows = [[*row, verdict] for row, verdict in zip(rows, verdicts, strict=True)]
    yield from table([*columns, "verdict"], rows, len(columns))


def _verdict(case: Compared) -> str:
    verdict, advice = case.comparison.verdict, case.comparison.advice
    word = verdict.value if verdict is Verdict.SAME else f"**{verdict.value}**"
    return f"{word}: {plain(advice)}" if advice else word
