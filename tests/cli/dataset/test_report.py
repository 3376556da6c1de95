from __future__ import annotations

from pathlib import Path

import pytest

from fictl.trace import Definition, Solution, Trace, TraceSet

_SPEC = {"shape": ["n"], "dtype": "float32"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """One solution that passed on w0, and failed on w1."""
    folder = tmp_path / "dataset"
    folder.mkdir()
    made = TraceSet.from_path(folder)
    said = {
        "name": "scale",
        "op_type": "norm",
        "axes": {"n": {"type": "var"}},
        "inputs": {"x": _SPEC},
        "outputs": {"y": _SPEC},
        "reference": "def run(x): return x",
    }
    made.add_definition(Definition.model_validate(said))
    spec = {"language": "python", "target_hardware": ["cpu"], "entry_point": "main.py::run"}
    solution = {
        "name": "mine",
        "definition": "scale",
        "author": "me",
        "spec": spec,
        "sources": [{"path": "main.py", "content": "x"}],
    }
    made.add_solution(Solution.model_validate(solution))
    for uuid, status in (("w0", "PASSED"), ("w1", "RUNTIME_ERROR")):
        evaluation = {
            "status": status,
            "environment": {"hardware": "NVIDIA_H200"},
            "timestamp": "now",
            "log": "KeyError: [b]'x'",
        }
        if status == "PASSED":
            evaluation |= {"correctness": {}, "performance": {"speedup_factor": 2.5}}
        trace = {
            "definition": "scale",
            "solution": "mine",
            "evaluation": evaluation,
            "workload": {"axes": {"n": 4}, "inputs": {}, "uuid": uuid},
        }
        made.add_traces([Trace.model_validate(trace)])
    return folder


def test_a_report_for_people(fictl, root: Path) -> None:
    answer = fictl("dataset", "report", str(root))
    lines = answer.out.splitlines()
    assert lines[:3] == [
        "2 results: 1 PASSED · 1 RUNTIME_ERROR",
        "  on NVIDIA_H200",
        "  correct 50%  fast_1 50%  fast_1.5 50%  fast_2 50%   "
        "(of workloads, the best solution each)",
    ]
    assert "scale       mine           me      1/2     2.50x    2.50x to 2.50x  1" in lines
    assert "RUNTIME_ERROR  1      1          KeyError: [b]'x'  mine on w1" in lines


def test_a_report_as_a_document(fictl, root: Path) -> None:
    document = fictl("dataset", "report", str(root), "--json").document
    assert document["schema"] == "fictl.dataset.report/1"
    assert document["data"]["best"][0]["solution"] == "mine"
    assert document["data"]["fast"] == {"0": 0.5, "1": 0.5, "1.5": 0.5, "2": 0.5}
    assert document["data"]["authors"][0]["fast"] == {"1.0": 0.5, "1.5": 0.5, "2.0": 0.5}


def test_a_page_and_markdown_are_files(fictl, root: Path, tmp_path: Path) -> None:
    for name, start in (("deep/report.html", "<!doctype html>"), ("report.md", "# ")):
        answer = fictl("dataset", "report", str(root), "--out", str(tmp_path / name))
        assert answer.out == f"wrote {tmp_path / name}\n"
        assert (tmp_path / name).read_text().startswith(start)


@pytest.mark.parametrize(("kind", "start"), [("md", "# "), ("html", "<!doctype html>")])
def test_a_document_on_stdout(fictl, root: Path, kind: str, start: str) -> None:
    assert fictl("dataset", "report", str(root), "--format", kind).out.startswith(start)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--format", "pdf"), "--format is 'pdf'"),
        (("--out", "report.pdf"), "report.pdf has no known format"),
        (("--out", "/proc/none/report.md"), "cannot be written"),
    ],
)
def test_what_cannot_be_written_is_refused(
    fictl, root: Path, words: tuple[str, ...], message: str
) -> None:
    answer = fictl("dataset", "report", str(root), *words)
    assert answer.code == 2
    assert message in answer.err


def test_the_dataset_may_be_a_setting(fictl, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FICTL_DATASET_PATH", str(root))
    assert fictl("dataset", "report").out.startswith("2 results")
