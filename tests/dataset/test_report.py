from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path

import pytest

from fictl.dataset.report.html import html
from fictl.dataset.report.links import Links
from fictl.dataset.report.markdown import markdown
from fictl.dataset.report.numbers import distribution, fast, mean
from fictl.dataset.report.report import Report, report
from fictl.dataset.report.result import cause
from fictl.dataset.report.tables import headline, remarks, sections
from fictl.errors import UsageError
from fictl.trace import Evaluation, Trace, TraceSet

from .samples import evaluation, solution, workload

HOSTILE = "<script>alert(1)</script>"


def add(
    dataset: TraceSet, name: str, uuid: str, made: Evaluation, definition: str = "scale"
) -> None:
    trace = Trace(definition=definition, workload=workload(uuid), solution=name, evaluation=made)
    dataset.add_traces([trace])


@pytest.fixture
def evaluated(dataset: TraceSet) -> TraceSet:
    """scale_a passes all three, scale_b two of them and faster; mm_a fails."""
    for uuid in ("s0", "s1", "s2"):
        add(dataset, "scale_a", uuid, evaluation(speedup=1.5))
    add(dataset, "scale_b", "s0", evaluation(speedup=8.0))
    add(dataset, "scale_b", "s1", evaluation(speedup=0.5))
    add(dataset, "scale_b", "s2", evaluation("INCORRECT_NUMERICAL", log="y: 3 of 4 differ"))
    add(dataset, "mm_a", "g0", evaluation("COMPILE_ERROR", log="main.cu:3: no ;"), "mm")
    return dataset


def test_the_best_passes_most_and_then_is_fastest(evaluated: TraceSet) -> None:
    mm, scale = report(evaluated).best
    assert (scale.solution, scale.passed, scale.workloads) == ("scale_a", 3, 3)
    assert scale.speedup == pytest.approx(1.5)
    assert (mm.solution, mm.passed, mm.workloads) == ("", 0, 1)


def test_fast_p_counts_the_best_of_each_workload(evaluated: TraceSet) -> None:
    """s0 8x, s1 and s2 1.5x, g0 nothing: 1.5 is not more than 1.5."""
    assert report(evaluated).fast == ((0.0, 0.75), (1.0, 0.75), (1.5, 0.25), (2.0, 0.25))


def test_authors_are_ranked(evaluated: TraceSet) -> None:
    me, you = report(evaluated).authors
    assert (me.author, me.workloads, me.passed, me.wins) == ("me", 4, 0.75, 0.5)
    assert (you.author, you.fast) == ("you", (1 / 3, 1 / 3, 1 / 3))
    assert you.speedup == pytest.approx(2.0)


def test_failures_are_counted_by_cause(evaluated: TraceSet) -> None:
    add(evaluated, "scale_b", "s1", evaluation("INCORRECT_NUMERICAL", log="y: 1 of 8 differ"))
    found = [(each.status, each.cause, each.count) for each in report(evaluated).causes]
    assert found == [
        ("INCORRECT_NUMERICAL", "y: 1 of 8 differ", 2),
        ("COMPILE_ERROR", "main.cu:3: no ;", 1),
    ]


def test_the_last_result_counts(evaluated: TraceSet) -> None:
    add(evaluated, "mm_a", "g0", evaluation(speedup=3.0), "mm")
    made = report(evaluated)
    assert len(made.results) == 7
    assert made.best[0].speedup == pytest.approx(3.0)


def test_results_of_two_machines_stay_apart(evaluated: TraceSet) -> None:
    said = evaluation(speedup=3.0).model_dump(mode="json")
    said["environment"]["hardware"] = "NVIDIA_B200"
    add(evaluated, "mm_a", "g0", Evaluation.model_validate(said), "mm")
    made = report(evaluated)
    assert (len(made.results), made.hardware) == (8, ("NVIDIA_B200", "NVIDIA_H200"))
    assert len(report(evaluated, hardware=["*B200"]).results) == 1


def at(dataset: TraceSet, place: str, mhz: object, speedup: float) -> None:
    facts = {"place": place, "clocks": {"sm_mhz": mhz}}
    add(dataset, "scale_a", "s0", evaluation(speedup=speedup).model_copy(update={"fictl": facts}))


def test_places_that_are_clocked_differently_stay_apart(dataset: TraceSet) -> None:
    for place, mhz, speedup in (
        *(("gpu1", 1980, 1.0), ("gpu2", 1965, 2.0), ("gpu3", 1200, 3.0)),
        # Once slowed by heat, and once without clocks: what a place has otherwise counts.
        *(("gpu1", 1500, 4.0), ("gpu1", 1980, 5.0), ("gpu3", None, 6.0)),
    ):
        at(dataset, place, mhz, speedup)
    kept = {(one.hardware, one.speedup) for one in report(dataset).results}
    name = next(iter(report(dataset).hardware)).partition(" at ")[0]
    assert kept == {(name, 5.0), (f"{name} at 1200 MHz", 6.0)}


@pytest.mark.parametrize(
    ("chosen", "count"),
    [({"definitions": ["sc*"]}, 6), ({"op_types": ["gemm"]}, 1), ({"hardware": ["NVIDIA*"]}, 7)],
)
def test_what_is_chosen_is_shown(evaluated: TraceSet, chosen: dict, count: int) -> None:
    assert len(report(evaluated, **chosen).results) == count


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ({"definitions": ["scal"]}, "there is no definition 'scal'"),
        ({"op_types": ["gem"]}, "there is no op type 'gem'"),
        ({"hardware": ["*B200*"]}, "there is no hardware"),
    ],
)
def test_a_choice_of_nothing_is_refused(evaluated: TraceSet, chosen: dict, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        report(evaluated, **chosen)


@pytest.mark.parametrize(
    "speedups", [[1.0], [0.5, 1.0, 2.0], [1e-9, 1e9], [float("inf"), float("nan"), 0.0]]
)
def test_a_distribution_has_every_speedup(speedups: list[float]) -> None:
    counted = sum(count for _, _, count in distribution(speedups))
    assert counted == sum(0 < each < float("inf") for each in speedups)


def test_a_speedup_stands_between_the_ends_of_its_step() -> None:
    (one,) = distribution([1.0])
    assert one == (1.0, pytest.approx(2**0.5), 1)


def test_twice_and_half_as_fast_are_one() -> None:
    assert mean([2.0, 0.5]) == pytest.approx(1.0)
    assert (mean([]), mean([0.0, float("inf")]), fast({}, 1.0)) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("log", "line"),
    [
        ("", ""),
        ("\n\n  first\nsecond", "first"),
        ("\x1b[31mred\x1b[0m \x07bell", "red bell"),
        (
            "Traceback (most recent call last):\n  File x\n    y()\nKeyError: 'a'\nmore",
            "KeyError: 'a'",
        ),
        ("Traceback (most recent call last):\n  cut off", "cut off"),
        ("x" * 500, "x" * 199 + "…"),
    ],
)
def test_the_cause_is_one_line_of_the_log(log: str, line: str) -> None:
    assert cause(log) == line


def broken(dataset: TraceSet) -> Report:
    """Lines of other tools and of a crash; results of solutions that are gone."""
    path = dataset.root / "traces" / "me" / "norm" / "scale.jsonl"
    lines = path.read_text().splitlines()
    gone = json.loads(lines[0]) | {"solution": "gone", "definition": "also_gone"}
    bare = json.loads(lines[0]) | {"solution": None, "evaluation": None}
    untimed = json.loads(lines[1])
    untimed["evaluation"]["performance"]["speedup_factor"] = 0.0
    added = [
        *map(json.dumps, (gone, bare, untimed)),
        "{",
        '{"definition": 3}',
        "\ufffd",
        lines[2][:60],
    ]
    path.write_text("\n".join([*lines, *added]))
    return report(dataset)


def test_partial_data_is_reported_as_far_as_it_goes(evaluated: TraceSet) -> None:
    made = broken(evaluated)
    assert len(made.problems) == 4
    assert "scale.jsonl:" in made.problems[0]
    assert [each.definition for each in made.best] == ["also_gone", "mm", "scale"]
    assert made.untimed == 1
    assert json.loads(json.dumps(made.to_dict()))["results"] == 8
    for text in (html(made), markdown(made), "\n".join(remarks(made))):
        assert "unreadable: 4 lines" in text


def test_an_empty_dataset_has_a_report(dataset: TraceSet) -> None:
    made = report(dataset)
    assert headline(made) == "no results"
    assert [*remarks(made)] == ["without a result: 2 definitions"]
    assert [*sections(made)] == []
    assert "<svg" not in html(made)
    assert markdown(made).startswith("# ")


class Page(HTMLParser):
    """What a browser would see of it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in ("meta", "rect", "circle", "polyline", "br", "input"):
            self.open.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("src", "href")]

    def handle_endtag(self, tag: str) -> None:
        if tag in self.open:
            assert self.open.pop() == tag


def test_the_page_is_whole_and_asks_for_nothing(evaluated: TraceSet) -> None:
    page = Page(html(report(evaluated)))
    assert page.open == []
    assert {link.partition("-")[0] for link in page.links} == {"#cause", "#result"}
    assert page.tags.count("script") == 1
    assert html(report(evaluated)).count('class="picture"') == 2
    assert page.tags.count("table") == 5


def test_the_page_is_in_the_colours_of_its_reader(evaluated: TraceSet) -> None:
    text = html(report(evaluated))
    assert "color-scheme: light dark" in text
    assert 'fill="white"' not in text
    assert '"#333333"' not in text


def test_no_text_of_a_dataset_becomes_markup(dataset: TraceSet) -> None:
    """A log and an author are whatever somebody writes; a definition of a trace is a file's name."""
    dataset.add_solution(solution("evil", "scale", author="<b onload=x>&amp; me|you"))
    add(dataset, "evil", "s0", evaluation())
    add(dataset, "evil", "s1", evaluation("RUNTIME_ERROR", log=f"{HOSTILE} ]]> [a](b) | c `d`"))
    made = report(dataset)
    page = Page(html(made))
    assert page.open == []
    assert (page.tags.count("script"), page.tags.count("b")) == (1, 0)
    rows = [line for line in markdown(made).splitlines() if "script" in line or "onload" in line]
    assert rows
    assert all("<" not in row.replace("\\<", "") for row in rows)
    assert all(row.replace("\\|", "").count("|") in (6, 8, 10) for row in rows)


def test_a_failure_leads_to_its_cause_its_log_and_its_source(evaluated: TraceSet) -> None:
    """As the page lies beside the dataset; elsewhere a path would tell of the machine."""
    made = report(evaluated)
    beside = Page(html(made, Links(evaluated, evaluated.root.parent / "report.html"))).links
    root = evaluated.root.name
    assert f"{root}/traces/me/norm/scale.jsonl" not in beside  # Its author is the other.
    assert f"{root}/traces/you/norm/scale.jsonl" in beside
    assert f"{root}/solutions/me/norm/scale/scale_a.json" in beside
    assert "#cause-0" in beside
    assert any(link.startswith("#result-") for link in beside)
    elsewhere = Page(html(made, Links(evaluated, Path("/elsewhere/report.html")))).links
    assert all(link.startswith("#") for link in elsewhere)


def test_many_results_are_reported_in_time(dataset: TraceSet) -> None:
    """A line takes a few dozen microseconds, so that 100,000 take seconds."""
    path = dataset.root / "traces" / "me" / "norm" / "scale.jsonl"
    path.parent.mkdir(parents=True)
    made = Trace(
        definition="scale", workload=workload("s0"), solution="scale_a", evaluation=evaluation()
    )
    line = made.to_line()
    path.write_text("".join(line.replace('"s0"', f'"s{number}"') for number in range(3000)))
    assert len(report(dataset).results) == 3000


def test_what_was_there_stays_as_it_was(evaluated: TraceSet, tmp_path: Path) -> None:
    before = {path: path.read_bytes() for path in evaluated.root.rglob("*") if path.is_file()}
    html(report(evaluated))
    assert before == {p: p.read_bytes() for p in evaluated.root.rglob("*") if p.is_file()}


def test_times_of_no_gpu_are_said_to_be_none(evaluated: TraceSet) -> None:
    for path in evaluated.root.rglob("traces/**/*.jsonl"):
        text = path.read_text().replace('"log":', '"fictl":{"device":"emu"},"log":')
        path.write_text(text)
    made = report(evaluated)
    assert "no GPU was used: these times and speedups do not apply to a GPU" in [*remarks(made)]
    assert "<svg" not in html(made)
    assert [each.title for each in sections(made)] == [
        "Best of each definition",
        "Authors",
        "Failures",
    ]
    add(evaluated, "mm_a", "g0", evaluation(speedup=3.0), "mm")
    mixed = report(evaluated)
    assert "6 results without a GPU, whose times do not apply to one" in [*remarks(mixed)]
    assert [count for _, _, count in mixed.distribution] == [1]
    assert [each.definition for each in mixed.best] == ["mm"]
