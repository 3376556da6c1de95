from __future__ import annotations

import json
from pathlib import Path

import pytest

from fictl import settings

RMSNORM = Path(__file__).resolve().parents[1] / "trace/definitions/rmsnorm/rmsnorm_h64_bf16.json"


@pytest.fixture
def committed(tiny: Path) -> Path:
    return tiny / "tests" / "trace" / "definitions" / "twice" / "twice.json"


def test_list_shows_axes_inputs_cases_and_definitions(fictl, tiny: Path) -> None:
    answer = fictl("trace", "list", "twice", "fictl/rmsnorm")
    header, twice, rmsnorm, *_others = answer.out.splitlines()
    assert header.split() == ["op", "axes", "inputs", "cases", "definitions"]
    assert twice.split() == ["tiny.ops.twice", "input", "1", "1"]
    assert "rows, hidden const" in rmsnorm


def test_list_as_a_document(fictl, tiny: Path) -> None:
    document = fictl("trace", "list", "twice", "--json").document
    assert document["schema"] == "fictl.trace.list/1"
    assert document["data"] == [
        {
            "op": "tiny.ops.twice",
            "axes": [],
            "inputs": ["input"],
            "cases": ["twice-1-int32"],
            "definitions": ["twice"],
        }
    ]


def test_export_writes_definitions_by_op_type(fictl, tiny: Path) -> None:
    answer = fictl("trace", "export", "twice", "--out", "defs")
    assert answer.out.endswith("1 definitions\n")
    assert json.loads((tiny / "defs/twice/twice.json").read_text())["name"] == "twice"


def test_export_that_is_only_shown_writes_nothing(fictl, tiny: Path) -> None:
    answer = fictl("trace", "export", "twice", "--out", "defs", "--dry-run", "--json")
    assert answer.document["data"]["written"] is False
    assert answer.document["data"]["paths"] == [str(tiny / "defs/twice/twice.json")]
    assert not (tiny / "defs").exists()


def test_check_fails_until_update_has_written(fictl, tiny: Path, committed: Path) -> None:
    answer = fictl("trace", "check")
    assert answer.code == 1
    assert f"missing  twice: there is no {committed}" in answer.out
    assert "fictl trace check --update writes them" in answer.out

    assert fictl("trace", "check", "--update", "--dry-run").code == 0
    assert not committed.exists()
    answer = fictl("trace", "check", "--update")
    assert (answer.code, answer.out.splitlines()[-1]) == (
        0,
        "✓ 1 traces and their definitions fit",
    )
    assert committed.is_file()
    assert fictl("trace", "check").code == 0


def test_check_shows_what_differs(fictl, committed: Path) -> None:
    fictl("trace", "check", "--update")
    committed.write_text(committed.read_text().replace("int32", "int64"))
    answer = fictl("trace", "check", "--json")
    (finding,) = answer.document["data"]["findings"]
    assert (answer.code, finding["kind"], finding["path"]) == (1, "differs", str(committed))
    assert '+      "dtype": "int32"' in finding["diff"]


def test_update_does_not_hide_what_it_cannot_write(fictl, tiny: Path) -> None:
    path = tiny / "kernels/elementwise/twice/trace.py"
    path.write_text(path.read_text().replace('"input":', '"source":'))
    answer = fictl("trace", "check", "--update")
    assert answer.code == 1
    assert "inconsistent  twice: the input source is not a parameter" in answer.out


def test_run_compares_an_op_with_the_definitions_reference(fictl, users_cache: None) -> None:
    answer = fictl("trace", "run", str(RMSNORM), "--device", "emu", "--axes", "rows=3")
    assert (answer.code, answer.out) == (
        0,
        "✓ rmsnorm_h64_bf16  rows=3 hidden=64  emulated: no GPU was used\n",
    )


def test_run_fails_where_they_differ(fictl, users_cache: None, tmp_path: Path) -> None:
    document = json.loads(RMSNORM.read_text())
    document["reference"] = "def run(input, weight, eps):\n    return input\n"
    path = tmp_path / "wrong.json"
    path.write_text(json.dumps(document))
    answer = fictl("trace", "run", str(path), "--device", "emu", "--json")
    assert (answer.code, answer.document["data"]["match"]) == (1, False)
    assert "elements differ" in answer.document["data"]["mismatch"]


def test_run_keeps_the_constraints_that_its_definition_adds(fictl, tmp_path: Path) -> None:
    document = {**json.loads(RMSNORM.read_text()), "constraints": ["rows % 2 == 0"]}
    path = tmp_path / "even.json"
    path.write_text(json.dumps(document))
    answer = fictl("trace", "run", str(path), "--device", "emu", "--axes", "rows=3")
    assert answer.code == 2
    assert "rmsnorm_h64_bf16 requires rows % 2 == 0" in answer.err


@pytest.mark.parametrize("words", [["--axes", "rows"], ["--axes", "rows=-1"], ["--axes", "a=b"]])
def test_sizes_that_cannot_be_read_are_refused(fictl, words: list[str]) -> None:
    answer = fictl("trace", "run", str(RMSNORM), *words, "--device", "emu")
    assert answer.code == 2
    assert "is not a whole number" in answer.err


def test_what_is_no_definition_is_a_usage_error(fictl, tmp_path: Path) -> None:
    path = tmp_path / "none.json"
    path.write_text("{}")
    answer = fictl("trace", "run", str(path), "--device", "emu")
    assert answer.code == 2
    assert "none.json:1: name: Field required; and 4 more" in answer.err


def test_hostile_code_is_a_usage_error(fictl, tmp_path: Path) -> None:
    document = json.loads(RMSNORM.read_text())
    document["reference"] = "import os\ndef run(input, weight, eps):\n    return os.getpid()\n"
    path = tmp_path / "hostile.json"
    path.write_text(json.dumps(document))
    answer = fictl("trace", "run", str(path), "--device", "emu")
    assert answer.code == 2
    assert "its code has import 'os', which computes nothing" in answer.err
    assert settings.DEVICE.get() == "emu"
