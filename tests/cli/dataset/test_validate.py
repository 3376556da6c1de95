from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from fictl.trace import Definition, TraceSet, Workload

DEFINITION = {
    "name": "add_n",
    "op_type": "add",
    "axes": {"n": {"type": "var"}},
    "inputs": {"x": {"shape": ["n"], "dtype": "float32"}},
    "outputs": {"y": {"shape": ["n"], "dtype": "float32"}},
    "reference": "def run(x):\n    return x\n",
}


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    made = TraceSet(tmp_path / "data")
    made.add_definition(Definition.model_validate(DEFINITION))
    workload = {"axes": {"n": 8}, "inputs": {"x": {"type": "random"}}, "uuid": "w1"}
    made.add_workload("add_n", Workload.model_validate(workload))
    return made.root


def test_a_good_dataset_is_told_in_a_line(fictl, dataset: Path) -> None:
    answer = fictl("dataset", "validate", str(dataset))
    assert (answer.code, answer.out) == (
        0,
        "✓ 1 definition, 0 solutions, 1 workload, 0 traces: nothing is wrong\n",
    )


def test_errors_are_listed_and_fail(fictl, dataset: Path) -> None:
    path = dataset / "workloads/add/add_n.jsonl"
    path.write_text(path.read_text().replace('"n":8', '"n":"8"') * 12)
    answer = fictl("dataset", "validate", str(dataset))
    first, *_, more = answer.out.splitlines()
    assert answer.code == 1
    assert first == (
        f"error workload-unreadable  {path}:1: workload.axes.n: "
        'Input should be a valid integer (seen "8")'
    )
    assert more == "… 2 more of workload-unreadable: --json has all"
    assert f"12 things are wrong with {dataset}" in answer.err


def test_findings_as_a_document(fictl, dataset: Path) -> None:
    (dataset / "workloads/add/add_n.jsonl").write_text("{\n")
    answer = fictl("dataset", "validate", str(dataset), "--json")
    document = answer.document
    assert (answer.code, document["schema"], document["ok"]) == (
        1,
        "fictl.dataset.validate/1",
        False,
    )
    assert document["data"]["checked"] == {"definitions": 1}
    (finding,) = document["data"]["findings"]
    assert finding.pop("text").startswith("not valid JSON")
    assert finding == {
        "level": "error",
        "kind": "workload-unreadable",
        "file": "workloads/add/add_n.jsonl",
        "line": 1,
        "field": "",
    }


def test_warnings_fail_if_asked(fictl, dataset: Path) -> None:
    words = ["dataset", "validate", str(dataset), "--checks", "all"]
    answer = fictl(*words)
    assert answer.code == 0
    assert "warning baseline-missing" in answer.out
    assert fictl(*words, "--strict").code == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--definition", "nope"), "there is no definition 'nope'\n  hint: there are add_n"),
        (("--definition", "ad_n"), "there is no definition 'ad_n'\n  hint: is it add_n?"),
        (("--definition", "add_n", "--definition", "b*"), "there is no definition 'b*'"),
        (("--op-type", "ad"), "there is no op type 'ad'\n  hint: is it add?"),
    ],
)
def test_what_is_not_there_is_not_well(
    fictl, dataset: Path, words: tuple[str, ...], said: str
) -> None:
    answer = fictl("dataset", "validate", str(dataset), *words)
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err


def test_a_definition_that_nobody_can_read_is_there(fictl, dataset: Path) -> None:
    (dataset / "definitions" / "add" / "broken.json").write_text("{")
    for choice in (("--definition", "broken"), ("--definition", "brok*")):
        answer = fictl("dataset", "validate", str(dataset), *choice)
        assert answer.code == 1
        assert "definition-unreadable" in answer.out


@pytest.mark.parametrize(
    ("words", "said"),
    [(["none"], "none is not a folder"), ([".", "--checks", "looks"], "there is no check looks")],
)
def test_what_cannot_be_asked_is_a_usage_error(
    fictl, tmp_path: Path, monkeypatch, words: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = fictl("dataset", "validate", *words)
    assert answer.code == 2
    assert said in answer.err


def test_torch_is_not_imported(dataset: Path) -> None:
    code = (
        "import sys\nfrom fictl.cli import main\n"
        f"code = main(['dataset', 'validate', {str(dataset)!r}, '--json'])\n"
        "sys.exit(code or 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["ok"]
