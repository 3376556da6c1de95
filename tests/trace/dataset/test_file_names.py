"""Names that flashinfer-bench allows: read, stored, found again, and never a way out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fictl.dataset.report.html import html
from fictl.dataset.report.markdown import markdown
from fictl.dataset.report.report import report
from fictl.judge.tools.subject import find_subject
from fictl.trace import Definition, Solution, Trace, TraceSet, Workload
from fictl.trace.dataset.check import validate
from fictl.trace.dataset.check.scope import Scope
from fictl.trace.dataset.file_names import file_name

STRANGE = [
    "my solution (v2)",
    "gpt-5: attempt #3",
    "a/b",
    "../../../etc/passwd",
    "/etc/passwd",
    "..",
    ".",
    ".hidden",
    " padded ",
    "na\u00efve",
    "\u540d\u524d",
    "\U0001f680",
    "x" * 300,
    "\u540d" * 300,
    "a\\b",
    "[v2]*?",
    "[red]bold[/red]",
    "<b>&amp;</b>",
    "|`_*",
    "con",
    "-rf",
    "~",
    "a~0123456789abcdef",
    "C:\\x",
    "'\"$HOME`ls`",
]


@pytest.mark.parametrize("name", STRANGE)
def test_a_file_name_is_one_and_leads_nowhere(name: str) -> None:
    made = file_name(name)
    assert made not in ("", ".", "..")
    assert not made.startswith(".")
    assert "/" not in made
    assert len(f"{made}.safetensors".encode()) <= 255
    assert file_name(made) != made or made == name


def test_no_two_names_share_a_file() -> None:
    names = [*STRANGE, *map(file_name, STRANGE), "a_b", "a b", "a//b", "x" * 301]
    assert len({file_name(name) for name in names}) == len({*names})


@pytest.mark.parametrize("name", ["gemm_n4096", "a.b+c-d", "with space", "\u540d\u524d", "(v2)"])
def test_what_can_be_a_file_is_named_as_flashinfer_bench_names_it(name: str) -> None:
    assert file_name(name) == name


def _dataset(root: Path, name: str) -> TraceSet:
    """One in which everything has this name."""
    dataset = TraceSet(root)
    spec = {"shape": ["n"], "dtype": "float32"}
    dataset.add_definition(
        Definition.model_validate(
            {
                "name": name,
                "op_type": name,
                "axes": {"n": {"type": "var"}},
                "inputs": {"x": spec},
                "outputs": {"y": spec},
                "reference": "def run(x):\n    return x\n",
            }
        )
    )
    dataset.add_solution(
        Solution.model_validate(
            {
                "name": name,
                "definition": name,
                "author": name,
                "spec": {
                    "language": "python",
                    "target_hardware": ["cpu"],
                    "entry_point": "main.py::run",
                },
                "sources": [{"path": "main.py", "content": "def run(x, y):\n    y.copy_(x)\n"}],
            }
        )
    )
    inputs = {"x": {"type": "random"}}
    workload = Workload.model_validate({"axes": {"n": 4}, "inputs": inputs, "uuid": name})
    dataset.add_workload(name, workload)
    evaluation = {
        "status": "RUNTIME_ERROR",
        "environment": {"hardware": "H"},
        "timestamp": "t",
        "log": "no",
    }
    document = {"definition": name, "workload": workload.model_dump(), "solution": name}
    dataset.add_traces([Trace.model_validate({**document, "evaluation": evaluation})])
    return TraceSet.from_path(root)


@pytest.mark.parametrize("name", STRANGE)
def test_a_dataset_of_such_names_is_sound(name: str, tmp_path: Path) -> None:
    root = tmp_path / "below" / "data"
    root.mkdir(parents=True)
    dataset = _dataset(root, name)
    assert [path.name for path in tmp_path.iterdir()] == ["below"]
    assert [path.name for path in root.parent.iterdir()] == ["data"]
    assert [*dataset.definitions] == [name]
    assert [trace.workload.uuid for trace in dataset.workloads(name)] == [name]
    assert [trace.solution for trace in dataset.traces(name)] == [name]
    assert [str(finding) for finding in validate(Scope(dataset.files, names=(name,)))] == []
    assert dataset.files.new_blob(name, name, name).resolve().is_relative_to(root.resolve())
    made = report(dataset, [name], [name])
    assert [each.solution for each in made.results] == [name]
    assert markdown(made)
    assert html(made)


@pytest.mark.parametrize("name", STRANGE)
def test_its_solution_is_found_with_its_workload(name: str, tmp_path: Path) -> None:
    root = tmp_path / "data"
    root.mkdir()
    (path,) = _dataset(root, name).files.solutions()
    subject = find_subject(path)
    assert (subject.definition.name, subject.ready.uuid) == (name, name)


def test_files_that_flashinfer_bench_names_after_a_name_with_a_slash_are_read(
    tmp_path: Path,
) -> None:
    dataset = _dataset(tmp_path, "a/b")
    (ours,) = dataset.files.workloads("a/b")
    theirs = tmp_path / "workloads" / "a" / "b" / "a" / "b.jsonl"
    theirs.parent.mkdir(parents=True)
    ours.rename(theirs)
    assert [trace.workload.uuid for trace in dataset.workloads("a/b")] == ["a/b"]


def test_two_names_that_differ_in_what_files_lack_stay_apart(tmp_path: Path) -> None:
    dataset = _dataset(tmp_path, "a/b")
    other = json.loads(dataset.files.solutions()[0].read_text())
    path = dataset.add_solution(Solution.model_validate({**other, "name": "a:/b"}))
    assert path != dataset.files.solutions()[0] or len(dataset.files.solutions()) == 2
    assert {each.name for each in TraceSet.from_path(tmp_path).solutions["a/b"]} == {"a/b", "a:/b"}
