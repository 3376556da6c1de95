"""The table: the best at each size, of evaluations that are of these sources and this hardware."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fictl.apply import ApplyConfig, ApplyConfigRegistry, ApplyTable
from fictl.apply import table as module
from fictl.apply.table import FOLDER
from fictl.runnable.builder import cache_path
from fictl.trace import Solution, Trace

from .samples import FAST, HERE, SLOW, contest, dataset, definition, returning, trace, writing

M2, M3 = (("M", 2),), (("M", 3),)


def build(
    root: Path, *traces: Trace, config: ApplyConfig | None = None, **solutions: Solution
) -> ApplyTable:
    made = dataset(root / "ds", [*solutions.values()], [*traces])
    return ApplyTable.load_or_build(made, ApplyConfigRegistry(config))


def winner(table: ApplyTable, sizes: tuple[tuple[str, int], ...] = M2) -> str:
    best = table.match("add", (HERE,), sizes)
    return best.solution if best else ""


def test_the_best_at_each_size_wins(tmp_path: Path) -> None:
    table = ApplyTable.load_or_build(contest(tmp_path / "ds"), ApplyConfigRegistry())
    assert (winner(table, M2), winner(table, M3)) == ("add_fast", "add_slow")
    assert winner(table, (("M", 4),)) == ""
    best = table.match_any("add", (HERE,))
    assert best is not None
    assert best.solution == "add_fast"  # 1.95x on average
    assert len(table.digest) == 64


def test_a_second_process_reads_it_from_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = contest(tmp_path / "ds")
    first = ApplyTable.load_or_build(made, ApplyConfigRegistry())
    monkeypatch.setattr(module, "_build", None)
    assert ApplyTable.load_or_build(made, ApplyConfigRegistry()) == first


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"digest": "x"}', "nonsense"])
def test_one_that_is_damaged_is_made_again(tmp_path: Path, text: str) -> None:
    made = contest(tmp_path / "ds")
    first = ApplyTable.load_or_build(made, ApplyConfigRegistry())
    path = cache_path() / FOLDER / f"{first.digest}.json"
    path.write_text(text)
    assert ApplyTable.load_or_build(made, ApplyConfigRegistry()) == first
    assert path.read_text() != text


def test_an_edit_of_the_dataset_and_another_configuration_make_another(tmp_path: Path) -> None:
    made = contest(tmp_path / "ds")
    tables = [
        ApplyTable.load_or_build(made, ApplyConfigRegistry(config))
        for config in (None, ApplyConfig(max_atol=1.0))
    ]
    (path,) = made.files.traces()
    path.write_text(path.read_text() + "\n")
    tables.append(ApplyTable.load_or_build(made, ApplyConfigRegistry()))
    assert len({table.digest for table in tables}) == 3


fast, slow = returning("add_fast", FAST), returning("add_slow", SLOW)


def test_the_last_evaluation_of_a_workload_counts(tmp_path: Path) -> None:
    traces = (trace(fast, 2, 9.0), trace(fast, 2, 1.0), trace(slow, 2, 2.0))
    assert winner(build(tmp_path, *traces, fast=fast, slow=slow)) == "add_slow"


def test_one_that_failed_a_workload_of_these_sizes_is_not_taken_there(tmp_path: Path) -> None:
    wrong = trace(fast, 2, 1.0, status="RUNTIME_ERROR", uuid="other")
    traces = (trace(fast, 2, 9.0), wrong, trace(slow, 2, 2.0), trace(fast, 3, 9.0))
    table = build(tmp_path, *traces, fast=fast, slow=slow)
    assert (winner(table, M2), winner(table, M3)) == ("add_slow", "add_fast")
    best = table.match_any("add", (HERE,))
    assert best is not None
    assert best.solution == "add_slow"
    assert table.refused["add"]["add_fast"] == "it was RUNTIME_ERROR on workload other"


def test_sources_that_changed_since_are_refused(tmp_path: Path) -> None:
    old = trace(returning("add_fast", 7.0), 2, 9.0)
    table = build(tmp_path, old, trace(slow, 2, 2.0), fast=fast, slow=slow)
    assert winner(table) == "add_slow"
    assert "have changed since it was evaluated" in table.refused["add"]["add_fast"]


def test_an_evaluation_of_unknown_sources_needs_a_word(tmp_path: Path) -> None:
    unknown = trace(fast, 2, 9.0, solution_hash=None)
    refusing = build(tmp_path / "a", unknown, fast=fast)
    assert winner(refusing) == ""
    assert "any_hash" in refusing.refused["add"]["add_fast"]
    accepting = build(tmp_path / "b", unknown, config=ApplyConfig(any_hash=True), fast=fast)
    assert winner(accepting) == "add_fast"


@pytest.mark.parametrize("patterns", [("a800",), ("*A800*",), ("NVIDIA_*",)], ids=str)
def test_hardware_matches_by_pattern_in_any_case(tmp_path: Path, patterns: tuple[str, ...]) -> None:
    gpu = trace(fast, 2, 9.0, hardware="NVIDIA_A800")
    table = build(tmp_path, gpu, trace(slow, 2, 2.0, hardware="H200"), fast=fast, slow=slow)
    best = table.match("add", patterns, M2)
    assert (best is not None) == (patterns != ("a800",))
    assert table.match("add", (HERE,), M2) is None


@pytest.mark.parametrize(
    "config",
    [
        ApplyConfig(max_atol=1e-4),
        ApplyConfig(authors=("some*",)),
        ApplyConfig(languages=("cuda", "triton")),
    ],
    ids=["errors", "authors", "languages"],
)
def test_a_configuration_leaves_solutions_out(tmp_path: Path, config: ApplyConfig) -> None:
    table = build(tmp_path, trace(fast, 2, 9.0), config=config, fast=fast)
    assert winner(table) == ""
    assert table.refused["add"]["add_fast"]


def test_a_trace_of_what_is_not_there_is_left_out(tmp_path: Path) -> None:
    made = dataset(tmp_path / "ds", [fast], [trace(fast, 2, 2.0)], definition())
    line = trace(slow, 2, 9.0).to_line()
    (path,) = made.files.traces()
    path.write_text(path.read_text() + line + line.replace('"add"', '"gone"'))
    table = ApplyTable.load_or_build(made, ApplyConfigRegistry())
    assert winner(table) == "add_fast"
    assert table.refused["add"] == {"add_slow": "the dataset does not have it"}


def test_those_of_most_sizes_come_first(tmp_path: Path) -> None:
    traces = [trace(fast, 2, 9.0), trace(slow, 3, 2.0), trace(slow, 4, 2.0)]
    table = build(tmp_path, *traces, fast=fast, slow=slow)
    assert [best.solution for _, best in table.winners()] == ["add_slow", "add_fast"]


Make = Callable[[str, float], Solution]


@pytest.mark.parametrize("make", [returning, writing])
def test_both_styles_are_chosen_alike(tmp_path: Path, make: Make) -> None:
    own = make("add_fast", FAST)
    assert winner(build(tmp_path, trace(own, 2, 2.0), fast=own)) == "add_fast"
