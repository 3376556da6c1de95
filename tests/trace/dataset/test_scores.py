"""Scores with numbers that were computed by hand, and flashinfer-bench's rules around them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fictl.trace import Definition, Solution, Trace, TraceSet

# By solution: the definition, the author, and what came of each workload, in ms or as a status.
# Where there are several, it was run so often.
SOLUTIONS: dict[str, tuple[str, str, dict[str, list[float | str]]]] = {
    "mm_base": ("mm", "baseline", {"m1": [4.0, 2.0], "m2": [3.0], "m3": ["TIMEOUT"]}),
    "mm_fast": ("mm", "ann", {"m1": [1.0], "m2": [2.0, 6.0], "m3": [1.0]}),
    "mm_slow": ("mm", "ann", {"m1": [4.0], "m2": [3.0]}),
    "mm_fails": ("mm", "bob", {"m1": [0.1, "RUNTIME_ERROR"], "m2": [0.1]}),
    "mm_elsewhere": ("mm", "cyd", {"m3": [1.0]}),
    "norm_base": ("norm", "baseline", {"n1": [6.0]}),
    "norm_ann": ("norm", "ann", {"n1": [12.0]}),
    "norm_bob": ("norm", "bob", {"n1": [2.0]}),
}


def evaluation(came: float | str, speedup: float = 1.0) -> dict[str, Any]:
    said: dict[str, Any] = {
        "status": "PASSED",
        "environment": {"hardware": "H"},
        "timestamp": "t",
    }
    if isinstance(came, str):
        return {**said, "status": came}
    times = {"latency_ms": came, "reference_latency_ms": came, "speedup_factor": speedup}
    return {**said, "correctness": {}, "performance": times}


def add(dataset: TraceSet, solution: str, definition: str, uuid: str, came: float | str) -> None:
    workload = {"axes": {"n": 1}, "inputs": {"x": {"type": "random"}}, "uuid": uuid}
    document = {"definition": definition, "workload": workload, "solution": solution}
    trace = Trace.model_validate({**document, "evaluation": evaluation(came)})
    dataset.add_traces([trace])


def solve(dataset: TraceSet, name: str, definition: str, author: str) -> None:
    spec = {"language": "python", "target_hardware": ["cpu"], "entry_point": "main.py::run"}
    sources = [{"path": "main.py", "content": f"# {name}"}]
    document = {"name": name, "definition": definition, "author": author, "spec": spec}
    dataset.add_solution(Solution.model_validate({**document, "sources": sources}))


@pytest.fixture
def dataset(tmp_path: Path) -> TraceSet:
    made = TraceSet(tmp_path)
    spec = {"shape": ["n"], "dtype": "float32"}
    for name in ("mm", "norm"):
        document = {
            "name": name,
            "op_type": f"{name}_type",
            "axes": {"n": {"type": "var"}},
            "inputs": {"x": spec},
            "outputs": {"y": spec},
            "reference": "def run(x): return x",
        }
        made.add_definition(Definition.model_validate(document))
    for name, (definition, author, results) in SOLUTIONS.items():
        solve(made, name, definition, author)
        for uuid, several in results.items():
            for came in several:
                add(made, name, definition, uuid, came)
    return TraceSet.from_path(tmp_path)


def test_a_solution_is_scored_by_the_baselines_latency_over_its_own(dataset: TraceSet) -> None:
    """The fastest pass of each counts; m3 does not, for the baseline did not pass it."""
    score = dataset.get_solution_score("mm_fast")
    assert score is not None
    assert score.avg_speedup == (2.0 / 1.0 + 3.0 / 2.0) / 2
    assert (score.definitions, score.workloads) == (1, 2)
    assert (score.success_rate, score.win_rate, score.best_solutions) == (1.0, 1.0, None)
    slow = dataset.get_solution_score("mm_slow")
    assert slow is not None
    assert (slow.avg_speedup, slow.win_rate) == ((2.0 / 4.0 + 3.0 / 3.0) / 2, 0.0)


def test_one_failure_is_a_score_of_0(dataset: TraceSet) -> None:
    score = dataset.get_solution_score("mm_fails")
    assert score is not None
    assert (score.avg_speedup, score.success_rate, score.win_rate, score.workloads) == (0, 0, 0, 2)


@pytest.mark.parametrize("name", ["mm_base", "mm_elsewhere", "nobody"])
def test_what_has_no_score(dataset: TraceSet, name: str) -> None:
    """The baseline itself, no workload in common, an unknown name."""
    assert dataset.get_solution_score(name) is None


def test_an_author_has_the_mean_of_the_best_of_each_definition(dataset: TraceSet) -> None:
    score = dataset.get_author_score("ann")
    assert score is not None
    assert score.avg_speedup == (1.75 + 6.0 / 12.0) / 2
    assert (score.definitions, score.workloads) == (2, 3)
    assert (score.success_rate, score.win_rate) == (1.0, 0.5)
    assert score.best_solutions == {"mm": "mm_fast", "norm": "norm_ann"}
    assert dataset.get_author_score("cyd") is None


def test_authors_are_ranked_without_the_baseline(dataset: TraceSet) -> None:
    ranking = dataset.rank_authors()
    assert [(author, score.avg_speedup) for author, score in ranking] == [
        ("bob", (0.0 + 3.0) / 2),
        ("ann", 1.125),
    ]
    within = dataset.rank_authors(definition_name="mm")
    assert [author for author, _ in within] == ["ann", "bob"]
    assert [author for author, _ in dataset.rank_authors(op_type="norm_type")] == ["bob", "ann"]
    assert dataset.rank_authors(op_type="none") == []


def test_another_author_may_be_the_baseline(dataset: TraceSet) -> None:
    ranking = dataset.rank_authors("bob", definition_name="norm")
    assert [(author, score.avg_speedup) for author, score in ranking] == [
        ("baseline", 2.0 / 6.0),
        ("ann", 2.0 / 12.0),
    ]


def test_a_summary_counts_all_and_ranks(dataset: TraceSet) -> None:
    made = dataset.summary()
    assert (made.total, made.passed, made.failed) == (17, 15, 2)
    assert made.by_status == {"PASSED": 15, "TIMEOUT": 1, "RUNTIME_ERROR": 1}
    assert made.rankings == dataset.rank_authors()
    other = dataset.summary(baseline_author="bob", definition_name="norm")
    assert (other.total, len(other.rankings)) == (17, 2)


def test_a_dataset_without_traces_needs_no_baseline(tmp_path: Path) -> None:
    made = TraceSet(tmp_path).summary(baseline_author="nobody")
    assert (made.total, made.passed, made.failed, made.rankings) == (0, 0, 0, [])


@pytest.mark.parametrize(
    ("asked", "error", "said"),
    [
        ({"baseline_author": "nobody"}, ValueError, "has 0 solutions by nobody"),
        ({"baseline_author": "ann", "definition_name": "mm"}, ValueError, "2 solutions by ann: "),
        ({"definition_name": "nom"}, KeyError, "there is no definition 'nom'"),
        ({"op_type": "mm_type", "definition_name": "mm"}, ValueError, "exclude each other"),
    ],
)
def test_errors_are_flashinfer_benchs(
    dataset: TraceSet, asked: dict[str, str], error: type[Exception], said: str
) -> None:
    for ask in (dataset.rank_authors, dataset.summary):
        with pytest.raises(error, match=said):
            ask(**asked)


def test_a_pass_without_a_latency_is_an_error_of_its_solution_alone(dataset: TraceSet) -> None:
    add(dataset, "mm_slow", "mm", "m1", 0.0)
    with pytest.raises(ValueError, match=r"mm_slow passed workload m1 in 0\.0 ms"):
        dataset.get_solution_score("mm_slow")
    assert dataset.get_solution_score("norm_ann") is not None


def test_the_ranking_by_the_reference_is_another(dataset: TraceSet) -> None:
    """It knows no baseline, and counts workloads, not solutions."""
    names = {score.author: score for score in dataset.rank_by_reference()}
    assert {*names} == {"baseline", "ann", "bob", "cyd"}
    assert names["bob"].success_rate == 1.0
    assert names["baseline"].success_rate == 3 / 4
