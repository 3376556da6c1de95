"""What agents call: documents in, documents out."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import pytest

from fictl.errors import SetupError, UsageError
from fictl.judge.tools import compile_solution, run_solution, tools_schema
from fictl.judge.tools.schema import TOOLS
from fictl.judge.tools.subject import find_subject

DEFINITION: dict[str, Any] = {
    "name": "scale",
    "op_type": "toy",
    "axes": {"n": {"type": "var"}, "k": {"type": "var"}},
    "inputs": {"x": {"shape": ["n"], "dtype": "float32"}, "k": {"shape": None, "dtype": "int32"}},
    "outputs": {"y": {"shape": ["n"], "dtype": "float32"}},
    "reference": "def run(x, k):\n    return x * k\n",
}
SOLUTION: dict[str, Any] = {
    "name": "tried",
    "definition": "scale",
    "author": "me",
    "spec": {
        "language": "python",
        "target_hardware": ["cpu"],
        "entry_point": "main.py::run",
        "destination_passing_style": False,
    },
    "sources": [{"path": "main.py", "content": "def run(x, k):\n    return x * k\n"}],
}


def with_source(text: str) -> dict[str, Any]:
    return {**SOLUTION, "sources": [{"path": "main.py", "content": text}]}


def test_a_run_is_a_document() -> None:
    answer = run_solution(SOLUTION, DEFINITION, axes={"n": 16, "k": 3}, device="cpu", iterations=2)
    assert (answer["tool"], answer["ok"], answer["status"]) == ("run", True, "PASSED"), answer
    assert answer["axes"] == {"n": 16, "k": 3}
    assert json.loads(json.dumps(answer))["error"] is None


def test_what_a_run_fails_with_has_its_place() -> None:
    wrong = with_source("def run(x, k):\n    raise ValueError('no')\n")
    answer = run_solution(wrong, DEFINITION, axes={"n": 16, "k": 3}, device="cpu", iterations=2)
    assert (answer["ok"], answer["status"]) == (False, "RUNTIME_ERROR")
    error = answer["error"]
    assert (error["file"], error["line"]) == ("main.py", 2)
    assert "ValueError: no" in error["text"]


def test_what_does_not_build_has_its_place() -> None:
    answer = compile_solution(
        with_source("def run(x, k)\n    return x\n"), DEFINITION, device="cpu"
    )
    assert (answer["ok"], answer["status"]) == (False, "COMPILE_ERROR")
    assert (answer["error"]["file"], answer["error"]["line"]) == ("main.py", 1)


def test_sizes_that_are_passed_as_numbers_are_those_of_the_axes() -> None:
    workload = find_subject(SOLUTION, DEFINITION, axes={"n": 4, "k": 3}).ready
    assert workload.scalars() == {"k": 3}
    assert workload.inputs["x"].type == "random"


def test_a_dataset_is_found_above_the_solution(tmp_path: Path) -> None:
    path = tmp_path / "solutions" / "me" / "tried.json"
    for place, document in (
        (tmp_path / "definitions" / "toy" / "scale.json", DEFINITION),
        (path, SOLUTION),
    ):
        place.parent.mkdir(parents=True)
        place.write_text(json.dumps(document))
    line = {
        "definition": "scale",
        "solution": None,
        "evaluation": None,
        "workload": {
            "axes": {"n": 8, "k": 2},
            "uuid": "abc",
            "inputs": {"x": {"type": "random"}},
        },
    }
    workloads = tmp_path / "workloads" / "toy" / "scale.jsonl"
    workloads.parent.mkdir(parents=True)
    workloads.write_text(json.dumps(line) + "\n")
    found = find_subject(path, workload="ab")
    assert (found.root, found.ready.uuid) == (tmp_path, "abc")


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"axes": {"m": 1}}, "scale has no axes m"),
        ({"axes": {"n": 1}}, "scale needs the size of k"),
        ({"workload": {"axes": {}}}, "inputs: Field required"),
    ],
)
def test_what_is_no_workload_is_told(given: dict[str, Any], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        find_subject(SOLUTION, DEFINITION, **given)


def test_schemas_are_those_of_the_functions() -> None:
    for schema, tool in zip(tools_schema(), TOOLS, strict=True):
        assert schema["name"] == tool.__name__
        assert [*schema["input_schema"]["properties"]] == [*inspect.signature(tool).parameters]
    assert json.loads(json.dumps(tools_schema()))


def test_what_a_machine_lacks_is_no_verdict() -> None:
    """Here no GPU is seen: whoever asked for one is told, and the solution is not blamed."""
    with pytest.raises(SetupError, match="there is no GPU here"):
        compile_solution(SOLUTION, DEFINITION, device="cuda")


def test_a_solution_that_hangs_is_ended() -> None:
    hangs = with_source("while True:\n    pass\n")
    answer = compile_solution(hangs, DEFINITION, device="cpu", timeout=2.0)
    assert (answer["ok"], answer["status"]) == (False, "TIMEOUT")
