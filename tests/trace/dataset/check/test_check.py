from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from fictl.errors import UsageError
from fictl.trace.dataset.check import validate
from fictl.trace.dataset.check.scope import CHECKS, USUAL, Scope
from fictl.trace.dataset.files import DatasetFiles

Change = Callable[[Any], object]
DEFINITION = "definitions/add/add_n.json"
SOLUTION = "solutions/me/add/add_n/quick.json"
WORKLOADS = "workloads/add/add_n.jsonl"
TRACES = "traces/me/add/add_n.jsonl"


def found(root: Path, checks: Sequence[str] = USUAL, **scope: Any) -> list[str]:
    """level kind FILE:LINE: field: text, without the folder."""
    findings = validate(Scope(DatasetFiles(root), checks, **scope))
    return [f"{f.level} {f.kind} {f}".replace(f"{root}/", "") for f in findings]


def test_a_good_dataset_has_no_findings(documents) -> None:
    root = documents.write_all()
    scope = Scope(DatasetFiles(root))
    assert [*validate(scope)] == []
    assert scope.counts == {"definitions": 1, "solutions": 1, "workloads": 1, "traces": 1}


def test_an_unknown_check_is_refused(documents) -> None:
    with pytest.raises(UsageError, match="there is no check looks"):
        Scope(DatasetFiles(documents.root), ["looks"])


def change(documents, changes: dict[str, Any]) -> None:
    for path, value in changes.items():
        document: Any = documents
        *parts, last = path.split(".")
        document = getattr(documents, parts[0])
        for part in parts[1:]:
            document = document[int(part) if part.isdecimal() else part]
        document[last] = value


RANDOM = {"type": "random"}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"definition.reference": "def run(by, x): ..."},
            f"error definition-parameters {DEFINITION}:1: reference: run takes (by, x), ",
        ),
        ({"definition.init": "def ("}, f"error definition-init {DEFINITION}:1: init: not valid"),
        ({"definition.init": "x = 1"}, f"error definition-init {DEFINITION}:1: init: it has no f"),
        (
            {"definition.constraints": ["x.max() < n"]},
            f"note definition-constraint {DEFINITION}:1: constraints.0: 'x.max() < n' uses more",
        ),
        (
            {"definition.constraints": ["n > 0", "q % 2 == 0"]},
            f"error definition-constraint {DEFINITION}:1: constraints.1: 'q % 2 == 0' uses q, ",
        ),
        (
            {"definition.constraints": ["1 == 2"]},
            f"error definition-constraint {DEFINITION}:1: constraints.0: no workload satisfies it: ",
        ),
        (
            {"definition.outputs.y.dtype": "uint8"},
            f"note definition-portability {DEFINITION}:1: outputs.y.dtype: flashinfer-bench cannot "
            "read outputs.y.dtype (uint8)",
        ),
        (
            {"definition.op_type": "sub"},
            f"error layout-misplaced {DEFINITION}: its place is definitions/sub/add_n.json",
        ),
        ({"definition.axes": {}}, f"error definition-unreadable {DEFINITION}:1: x has the unknown"),
        (
            {"solution.author": "you"},
            f"error layout-misplaced {SOLUTION}: its place is solutions/you/add/add_n/quick.json",
        ),
        (
            {"solution.spec.entry_point": "main.py::walk"},
            f"error solution-entry {SOLUTION}:1: spec.entry_point: main.py defines no walk",
        ),
        (
            {"solution.spec.language": "cuda"},
            f"error solution-entry {SOLUTION}:1: spec.entry_point: main.py of a solution in cuda",
        ),
        (
            {"solution.sources.0.content": "def run(:"},
            f"error solution-source {SOLUTION}:1: sources.0.content: main.py is not valid Python",
        ),
        (
            {"solution.spec.binding": "ctypes"},
            f"error solution-unreadable {SOLUTION}:1: spec.binding: Input should be",
        ),
        (
            {"solution.definition": "none"},
            f"error solution-dangling {SOLUTION}:1: definition: there is no definition none",
        ),
        (
            {"workload.axes.n": 7},
            f"error workload-axes {WORKLOADS}:1: workload.axes: add_n requires n % 2 == 0 (here n=7)",
        ),
        ({"workload.axes": {}}, f"error workload-axes {WORKLOADS}:1: workload.axes: add_n needs"),
        ({"workload.axes.m": 7}, f"error workload-axes {WORKLOADS}:1: workload.axes: add_n has no"),
        (
            {"workload.inputs": {"x": RANDOM}},
            f"error workload-inputs {WORKLOADS}:1: workload.inputs: add_n takes by too",
        ),
        (
            {"workload.inputs.z": RANDOM},
            f"error workload-inputs {WORKLOADS}:1: workload.inputs.z: add_n has no such input",
        ),
        (
            {"workload.inputs.by": RANDOM},
            f"error workload-inputs {WORKLOADS}:1: workload.inputs.by: a number needs a value",
        ),
        (
            {"workload.inputs.by.value": 2.5},
            f"error workload-inputs {WORKLOADS}:1: workload.inputs.by: 2.5 is not of dtype int32",
        ),
        (
            {"workload.inputs.x": {"type": "scalar", "value": 1}},
            f"error workload-inputs {WORKLOADS}:1: workload.inputs.x: a number, instead of a tensor of",
        ),
        (
            {"workload.inputs.x": {"type": "custom"}},
            f"error workload-inputs {WORKLOADS}:1: workload.inputs.x: the definition has no code",
        ),
        (
            {"workload.inputs.x": {"type": "safetensors", "path": "none", "tensor_key": "x"}},
            f"error workload-blob {WORKLOADS}:1: workload.inputs.x.path: none is not there",
        ),
        (
            {"evaluation.performance.speedup_factor": 5.0},
            f"warning trace-performance {TRACES}:1: evaluation.performance: a speedup of 5, but",
        ),
        (
            {"evaluation.fictl": {"solution_hash": "0" * 64}},
            f"warning trace-stale {TRACES}:1: evaluation.fictl.solution_hash: quick has changed",
        ),
        (
            {"evaluation.performance.latency_ms": 0},
            f"warning trace-performance {TRACES}:1: evaluation.performance: a latency of 0",
        ),
        (
            {"evaluation.status": "TIMEOUT"},
            f"error trace-unreadable {TRACES}:1: evaluation: TIMEOUT has no correctness",
        ),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)
def test_what_is_wrong_is_found_where_it_is(documents, changes, said: str) -> None:
    change(documents, changes)
    findings = found(documents.write_all())
    assert [finding for finding in findings if finding.startswith(said)], findings


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"solution": None}, "error trace-incomplete {}: it needs a solution and"),
        ({"evaluation": None}, "error trace-incomplete {}: it needs a solution and"),
        ({"definition": "other"}, "error trace-misplaced {}: definition: a trace of other"),
        ({"solution": "none"}, "error trace-dangling {}: solution: there is no solution none"),
        (
            {"workload": {"axes": {"n": 8}, "inputs": {}, "uuid": "w9"}},
            "error trace-dangling {}: workload.uuid: no workload is w9",
        ),
    ],
)
def test_what_is_wrong_with_a_trace_is_found(documents, changes: Any, said: str) -> None:
    documents.write_all()
    documents.write(TRACES, documents.trace(), documents.trace(**changes))
    (finding,) = found(documents.root)
    assert finding.startswith(said.format(f"{TRACES}:2"))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "error workload-duplicate {}: workload.uuid: another one is w1"),
        ({"definition": "other"}, "error workload-misplaced {}: definition: a workload of other"),
        ({"solution": "quick"}, "error workload-evaluated {}: it has a solution or an evaluation"),
    ],
)
def test_what_is_wrong_with_a_workload_is_found(documents, changes: Any, said: str) -> None:
    documents.write_all()
    documents.write(WORKLOADS, documents.line(), documents.line(**changes))
    assert said.format(f"{WORKLOADS}:2") in found(documents.root)[0]


def test_every_line_that_cannot_be_read_is_a_finding(documents) -> None:
    documents.write_all()
    documents.write(TRACES, documents.trace(), '{"a"', documents.trace(), "[]")
    assert [finding.split(": ")[0] for finding in found(documents.root)] == [
        f"error trace-unreadable {TRACES}:2",
        f"error trace-unreadable {TRACES}:4",
    ]


def test_what_is_of_nothing_is_found_once_a_file(documents) -> None:
    documents.write_all()
    documents.write("workloads/add/gone.jsonl", *[documents.line(definition="gone")] * 3)
    documents.write("traces/me/add/gone.jsonl", documents.trace(definition="gone"))
    dangling = [finding for finding in found(documents.root) if "-dangling" in finding]
    assert dangling[:2] == [
        "error workload-dangling workloads/add/gone.jsonl: there is no definition gone",
        "error trace-dangling traces/me/add/gone.jsonl: there is no definition gone",
    ]


def test_a_definition_that_cannot_be_read_is_the_only_one_blamed(documents) -> None:
    documents.definition["axes"] = 5
    assert [line.split()[1] for line in found(documents.write_all())] == ["definition-unreadable"]


def test_names_that_are_there_twice_are_found(documents) -> None:
    documents.write_all()
    documents.write("definitions/add/twin.json", documents.definition)
    documents.write("solutions/me/add/add_n/twin.json", documents.solution)
    assert [line.split(":")[0] for line in found(documents.root, ["definition", "solution"])] == [
        "error definition-duplicate definitions/add/twin.json",
        "error solution-duplicate solutions/me/add/add_n/twin.json",
    ]


def test_the_same_code_twice_is_a_warning(documents) -> None:
    documents.write_all()
    twin = {**documents.solution, "name": "twin", "author": "you"}
    documents.write("solutions/you/add/add_n/twin.json", twin)
    assert found(documents.root) == [
        "warning solution-same solutions/you/add/add_n/twin.json: its code is the same as that of quick"
    ]


def test_files_and_folders_that_are_nobodys_are_found(documents) -> None:
    documents.write_all()
    documents.write("workloads/add/notes.txt", "hello")
    documents.write("workloads/sub/add_n.jsonl")
    documents.write("traces/you/add/add_n.jsonl", documents.trace())
    assert [line.split(": ")[0] for line in found(documents.root)] == [
        "warning layout-unknown workloads/add/notes.txt",
        "error layout-misplaced workloads/sub/add_n.jsonl",
        "error trace-misplaced traces/you/add/add_n.jsonl:1",
    ]


def test_only_what_is_asked_for_is_checked(documents) -> None:
    documents.write_all()
    documents.write(WORKLOADS, "{")
    documents.write(SOLUTION, "{")
    other = {**copy.deepcopy(documents.definition), "name": "sub_n", "op_type": "sub"}
    documents.write("definitions/sub/sub_n.json", {**other, "init": "("})
    root = documents.root
    assert [line.split()[1] for line in found(root, ["workload"])] == ["workload-unreadable"]
    assert [line.split()[1] for line in found(root, ["solution"])] == ["solution-unreadable"]
    assert [line.split()[1] for line in found(root, op_types=["sub"])] == ["definition-init"]
    assert [line.split()[1] for line in found(root, ["definition"], names=["add_n"])] == []


def test_what_a_benchmark_lacks_is_a_warning(documents) -> None:
    documents.write("definitions/add/add_n.json", documents.definition)
    assert [line.split()[:2] for line in found(documents.root, CHECKS)] == [
        ["warning", "baseline-missing"],
        ["warning", "benchmark-workloads"],
        ["warning", "benchmark-traces"],
    ]
    documents.solution["author"] = "baseline"
    documents.write("solutions/baseline/add/add_n/quick.json", documents.solution)
    documents.write(WORKLOADS, documents.line())
    documents.write("traces/baseline/add/add_n.jsonl", documents.trace())
    assert found(documents.root, CHECKS) == []


def test_an_empty_folder_is_told(tmp_path: Path) -> None:
    assert found(tmp_path)[0].startswith("warning layout-empty ")


def test_lines_end_as_they_like(documents) -> None:
    root = documents.write_all()
    for name in (WORKLOADS, TRACES):
        path = root / name
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n") + b"\r\n")
    assert found(root) == []


def test_a_dataset_of_sol_execbench_is_checked(documents) -> None:
    documents.write("L1/001/definition.json", {**documents.definition, "op_type": None})
    documents.write("L1/001/workload.jsonl", documents.workload, documents.workload)
    assert [line.split(": ")[0] for line in found(documents.root)] == [
        "error workload-duplicate L1/001/workload.jsonl:2"
    ]


@pytest.mark.parametrize(
    ("dtype", "shape", "key", "said"),
    [
        ("F32", [8, 4], "x", ""),
        ("F16", [8, 4], "x", "workload.inputs.x: it is float16[8, 4], expected float32[8, 4]"),
        ("F32", [4, 8], "x", "workload.inputs.x: it is float32[4, 8], expected float32[8, 4]"),
        ("F32", [8, 4], "y", "workload.inputs.x.tensor_key: ./blob/w1.safetensors has no 'x'; it"),
    ],
)
def test_what_a_file_holds_is_what_the_input_is(documents, dtype, shape, key, said) -> None:
    size = 32 * {"F32": 4, "F16": 2}[dtype]
    header = f'{{"{key}":{{"dtype":"{dtype}","shape":{shape},"data_offsets":[0,{size}]}}}}'.encode()
    blob = documents.root / "blob/w1.safetensors"
    blob.parent.mkdir(parents=True)
    blob.write_bytes(len(header).to_bytes(8, "little") + header + bytes(size))
    documents.workload["inputs"]["x"] = {
        "type": "safetensors",
        "path": "./blob/w1.safetensors",
        "tensor_key": "x",
    }
    findings = found(documents.write_all())
    assert [said in finding for finding in findings] == ([True] if said else [])
