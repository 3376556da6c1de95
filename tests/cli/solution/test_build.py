from __future__ import annotations

import json


def test_of_an_exported_op_the_kernels_are_built(fictl, solution) -> None:
    answer = fictl("solution", "build", str(solution), "--device", "emu", "--json")
    document = answer.document
    assert (answer.code, document["schema"]) == (0, "fictl.solution.build/1")
    data = document["data"]
    assert (data["status"], data["builder"], data["error"]) == ("BUILT", "python", None)
    assert (data["definition"], data["solution"]) == ("shift_i32", "fictl_shift_i32")


def test_the_first_error_is_that_of_a_source_with_its_line(fictl, edited) -> None:
    path = edited("shift.cuh", "if (i < n) out", "if (i < m) out")
    answer = fictl("solution", "build", str(path), "--device", "emu")
    assert answer.code == 1
    assert answer.out.startswith("✗ COMPILE_ERROR  fictl_shift_i32")
    place = "  kernels/include/stray/elementwise/shift.cuh:11:11: "
    assert any(line.startswith(place) and "m" in line for line in answer.out.splitlines())


def test_a_solution_of_another_definition_is_refused(fictl, solution, tmp_path) -> None:
    other = json.loads(next(solution.parents[4].glob("definitions/*/*.json")).read_text())
    path = tmp_path / "other.json"
    path.write_text(json.dumps({**other, "name": "other"}))
    answer = fictl("solution", "build", str(solution), "--definition", str(path))
    assert answer.code == 2
    assert "is a solution of shift_i32, not of other" in answer.err


def test_a_definition_that_is_nowhere_is_asked_for(fictl, solution, tmp_path) -> None:
    alone = tmp_path / "alone.json"
    alone.write_bytes(solution.read_bytes())
    answer = fictl("solution", "build", str(alone))
    assert answer.code == 2
    assert "the definition shift_i32 is in no dataset" in answer.err
    assert "--definition names its file" in answer.err


def test_a_file_that_is_no_solution_is_told_by_field(fictl, solution) -> None:
    document = json.loads(solution.read_text())
    del document["spec"]["language"]
    solution.write_text(json.dumps(document))
    answer = fictl("solution", "build", str(solution))
    assert answer.code == 2
    assert "spec.language" in answer.err
