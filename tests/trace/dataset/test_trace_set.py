from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from fictl.errors import FictlError, UsageError
from fictl.trace import Definition, Evaluation, Solution, Trace, TraceSet, Workload


@pytest.fixture
def dataset(documents) -> TraceSet:
    return TraceSet.from_path(documents.write_all())


def files_below(root: Path) -> set[str]:
    return {path.relative_to(root).as_posix() for path in root.rglob("*")}


def test_everything_in_a_folder_is_found(dataset: TraceSet) -> None:
    assert [*dataset.definitions] == ["add_n"]
    assert {d: [s.name for s in them] for d, them in dataset.solutions.items()} == {
        "add_n": ["quick"]
    }
    assert [trace.workload.uuid for trace in dataset.workloads("add_n")] == ["w1"]
    assert [trace.solution for trace in dataset.traces()] == ["quick"]
    assert dataset.get_solution("quick") == dataset.solutions["add_n"][0]
    assert dataset.get_solution("none") is None
    assert [*dataset.workloads("none")] == []


def test_reading_writes_nothing(dataset: TraceSet) -> None:
    before = files_below(dataset.root)
    dataset.rank_by_reference()
    [*dataset.workloads()]
    assert files_below(dataset.root) == before


def test_the_setting_names_the_dataset(documents, monkeypatch) -> None:
    monkeypatch.setenv("FIB_DATASET_PATH", str(documents.write_all()))
    assert [*TraceSet.from_path().definitions] == ["add_n"]
    monkeypatch.setenv("FICTL_DATASET_PATH", str(documents.root / "none"))
    with pytest.raises(UsageError, match="none is not a folder"):
        TraceSet.from_path()


@pytest.mark.parametrize(
    ("path", "part"),
    [
        ("definitions/other/add_n.json", "definition"),
        ("solutions/you/add/add_n/quick.json", "solution"),
    ],
)
def test_names_that_are_there_twice_are_told_with_both_files(
    documents, path: str, part: str
) -> None:
    documents.write_all()
    twin = documents.write(path, getattr(documents, part))
    dataset = TraceSet(documents.root)
    with pytest.raises(UsageError, match="are both named") as info:
        list(dataset.definitions)
        list(dataset.solutions)
    assert str(twin) in info.value.message


def test_a_line_that_cannot_be_read_is_told(documents, dataset: TraceSet) -> None:
    path = documents.write("traces/me/add/add_n.jsonl", documents.trace(), '{"definition"')
    with pytest.raises(UsageError, match=r"add_n.jsonl:2: not valid JSON: .*cut off"):
        [*dataset.traces()]
    assert next(dataset.traces()).solution == "quick"
    assert path.is_file()


def test_an_empty_folder_is_filled(documents) -> None:
    documents.root.mkdir()
    dataset = TraceSet.from_path(documents.root)
    definition = Definition.model_validate(documents.definition)
    solution = Solution.model_validate(documents.solution)
    workload = Workload.model_validate(documents.workload)
    trace = Trace.model_validate(documents.trace())
    for _ in range(2):
        dataset.add_definition(definition)
        dataset.add_solution(solution)
        dataset.add_workload("add_n", workload)
    dataset.add_traces([trace])
    dataset.add_traces([trace])

    found = TraceSet.from_path(documents.root)
    assert found.definitions == {"add_n": definition}
    assert found.solutions == {"add_n": [solution]}
    assert [t.workload for t in found.workloads()] == [workload]
    assert [*found.traces()] == [trace, trace]
    assert {path for path in files_below(documents.root) if "." in path} == {
        "definitions/add/add_n.json",
        "solutions/me/add/add_n/quick.json",
        "workloads/add/add_n.jsonl",
        "traces/me/add/add_n.jsonl",
    }


def test_what_is_there_is_not_replaced_by_something_else(documents, dataset: TraceSet) -> None:
    made = [
        lambda: dataset.add_definition(
            Definition.model_validate({**documents.definition, "description": "other"})
        ),
        lambda: dataset.add_solution(
            Solution.model_validate({**documents.solution, "description": "other"})
        ),
        lambda: dataset.add_workload(
            "add_n", Workload.model_validate({**documents.workload, "axes": {"n": 2}})
        ),
    ]
    for add in made:
        with pytest.raises(UsageError, match="another"):
            add()


def test_what_refers_to_nothing_is_not_added(documents, dataset: TraceSet) -> None:
    trace = Trace.model_validate(documents.trace())
    for wrong, said in [
        (trace.model_copy(update={"solution": "none"}), "no solution none"),
        (trace.model_copy(update={"solution": None}), "has no solution"),
        (trace.model_copy(update={"definition": "none"}), "no definition none"),
    ]:
        with pytest.raises(UsageError, match=said):
            dataset.add_traces([wrong])
    with pytest.raises(UsageError, match="no definition none"):
        dataset.add_workload("none", trace.workload)
    with pytest.raises(UsageError, match="no definition none"):
        dataset.add_solution(Solution.model_validate({**documents.solution, "definition": "none"}))


def test_a_solution_that_another_process_added_is_found(documents, dataset: TraceSet) -> None:
    assert [*dataset.solutions] == ["add_n"]
    documents.write("solutions/me/add/add_n/new.json", {**documents.solution, "name": "new"})
    dataset.add_traces([Trace.model_validate(documents.trace(solution="new"))])
    assert [trace.solution for trace in dataset.traces()] == ["quick", "new"]


def test_a_folder_that_cannot_be_written_is_told(documents, dataset: TraceSet) -> None:
    documents.write("definitions/stop", "a file")
    other = {**documents.definition, "name": "stop", "op_type": "stop"}
    with pytest.raises(FictlError, match="cannot be written: "):
        dataset.add_definition(Definition.model_validate(other))


def evaluated(status: str = "PASSED", speedup: float = 1.0, error: Any = 0.0) -> dict[str, Any]:
    evaluation: dict[str, Any] = {
        "status": status,
        "environment": {"hardware": "H"},
        "timestamp": "t",
    }
    if status == "PASSED":
        evaluation["correctness"] = {"max_absolute_error": error, "max_relative_error": error}
        evaluation["performance"] = {
            "latency_ms": 1.0,
            "reference_latency_ms": speedup,
            "speedup_factor": speedup,
        }
    return Evaluation.model_validate(evaluation).model_dump(mode="json")


def test_the_best_trace_is_the_fastest_that_is_right(documents, dataset: TraceSet) -> None:
    small = {**documents.workload, "axes": {"n": 2}, "uuid": "w2"}
    lines = [
        documents.trace(evaluation=evaluated(speedup=2.0)),
        documents.trace(evaluation=evaluated(speedup=9.0, error=0.5)),
        documents.trace(evaluation=evaluated(speedup=8.0, error="NaN")),
        documents.trace(evaluation=evaluated("TIMEOUT")),
        documents.trace(evaluation=evaluated(speedup=3.0), workload=small),
    ]
    documents.write("traces/me/add/add_n.jsonl", *lines)

    def speedup(**how: Any) -> float | None:
        trace = dataset.get_best_trace("add_n", **how)
        return (
            json.loads(trace.to_line())["evaluation"]["performance"]["speedup_factor"]
            if trace
            else None
        )

    assert speedup() == 3.0
    assert speedup(axes={"n": 8}) == 2.0
    assert speedup(axes={"n": 8}, max_abs_error=1.0, max_rel_error=1.0) == 9.0
    assert speedup(axes={"n": 6}) is None
    assert len([*dataset.filter_traces("add_n")]) == 2


def test_by_the_reference_authors_are_ranked_by_their_mean_speedup(
    documents, dataset: TraceSet
) -> None:
    documents.write(
        "solutions/you/add/add_n/slow.json", {**documents.solution, "name": "slow", "author": "you"}
    )
    other = {**documents.workload, "uuid": "w2"}
    documents.write(
        "traces/me/add/add_n.jsonl",
        documents.trace(evaluation=evaluated(speedup=2.0)),
        documents.trace(evaluation=evaluated(speedup=4.0)),
        documents.trace(evaluation=evaluated("RUNTIME_ERROR"), workload=other),
    )
    documents.write(
        "traces/you/add/add_n.jsonl",
        documents.trace(evaluation=evaluated(speedup=3.0), solution="slow"),
        documents.trace(evaluation=evaluated(speedup=3.0), solution="slow", workload=other),
    )
    you, me = dataset.rank_by_reference()
    assert (you.author, you.avg_speedup, you.win_rate, you.success_rate) == ("you", 3.0, 0.5, 1.0)
    assert (me.author, me.avg_speedup, me.win_rate, me.success_rate) == ("me", 2.0, 0.5, 0.5)
    assert (me.definitions, me.workloads) == (1, 2)
    assert dataset.rank_by_reference(op_type="gemm") == []


def test_a_dataset_of_sol_execbench_is_read(documents) -> None:
    folder = "benchmark/L1/001_add"
    sol = {k: v for k, v in documents.definition.items() if k not in {"op_type", "tags"}}
    documents.write(f"{folder}/definition.json", {**sol, "hf_id": "a/b"})
    documents.write(
        f"{folder}/workload.jsonl",
        documents.workload,
        documents.line(workload={**documents.workload, "uuid": "w2"}),
    )
    spec = {"languages": ["cuda_cpp"], "target_hardware": ["LOCAL"], "entry_point": "main.py::run"}
    documents.write(f"{folder}/solution_cuda.json", {**documents.solution, "spec": spec})
    dataset = TraceSet.from_path(documents.root)
    assert dataset.definitions["add_n"].op_type == "other"
    assert [t.workload.uuid for t in dataset.workloads("add_n")] == ["w1", "w2"]
    assert [t.definition for t in dataset.workloads()] == ["add_n", "add_n"]
    dataset.add_traces([Trace.model_validate(documents.trace())])
    assert (documents.root / "traces/me/other/add_n.jsonl").is_file()
    assert [t.solution for t in dataset.traces("add_n")] == ["quick"]


def test_memory_does_not_grow_with_the_lines(documents, dataset: TraceSet) -> None:
    line = json.dumps(documents.trace(evaluation={**documents.evaluation, "log": "x" * 2000}))

    def peak(lines: int) -> int:
        documents.write("traces/me/add/add_n.jsonl", *[line] * lines)
        tracemalloc.start()
        assert sum(1 for _ in dataset.traces()) == lines
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(10)
    assert peak(1500) < peak(150) + 100_000
