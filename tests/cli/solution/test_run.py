from __future__ import annotations

import json


def _run(fictl, path, *words: str):
    return fictl("solution", "run", str(path), "--device", "emu", "--iterations", "2", *words)


DEFINITION = {
    "name": "doubled",
    "op_type": "toy",
    "axes": {"n": {"type": "var"}},
    "inputs": {"x": {"shape": ["n"], "dtype": "float32"}},
    "outputs": {"y": {"shape": ["n"], "dtype": "float32"}},
    "reference": "def run(x):\n    return x * 2\n",
}
SOLUTION = {
    "name": "sum_of_two",
    "definition": "doubled",
    "author": "me",
    "spec": {
        "language": "python",
        "target_hardware": ["cpu"],
        "entry_point": "main.py::run",
        "destination_passing_style": False,
    },
    "sources": [{"path": "main.py", "content": "def run(x):\n    return x + x\n"}],
}


def test_what_passes_is_told_with_its_time_and_its_error(fictl, tmp_path) -> None:
    definition, solution = tmp_path / "d.json", tmp_path / "s.json"
    definition.write_text(json.dumps(DEFINITION))
    solution.write_text(json.dumps(SOLUTION))
    words = ("-d", str(definition), "--axes", "n=64", "--device", "cpu", "--iterations", "2")
    answer = fictl("solution", "run", str(solution), *words)
    assert answer.code == 0, answer.out + answer.err
    # A busy machine adds why the time is not to be relied on.
    first, times, errors, facts = answer.out.splitlines()[:4]
    assert first == "✓ PASSED  sum_of_two  n=64  cpu"
    assert " us, the reference " in times
    assert errors == "  largest error 0 absolute, 0 relative"
    assert facts.startswith("  timer ")


def test_what_runs_is_the_copy_as_it_was_edited(fictl, edited) -> None:
    """Not what is installed, and not the project that it was copied from."""
    path = edited("shift.cuh", "= input[i * input_stride];", "= input[i * input_stride] + 1;")
    answer = _run(fictl, path)
    assert answer.code == 1
    assert answer.out.startswith("✗ INCORRECT_NUMERICAL  fictl_shift_i32  n=40  emulated")


def test_a_run_needs_sizes(fictl, solution, tmp_path) -> None:
    for path in solution.parents[4].glob("workloads/*/*.jsonl"):
        path.unlink()
    answer = _run(fictl, solution)
    assert answer.code == 2
    assert "--axes n=8" in answer.err


def test_a_workload_that_is_not_there_is_told(fictl, solution) -> None:
    answer = _run(fictl, solution, "--workload", "ffff-no")
    assert answer.code == 2
    assert "has no workload ffff-no" in answer.err


def test_sizes_that_are_none_are_refused(fictl, solution) -> None:
    answer = _run(fictl, solution, "--axes", "n=few")
    assert answer.code == 2
    assert "n = 'few' is not a whole number" in answer.err


def test_a_solution_is_judged_at_the_first_place_that_can(fictl, tmp_path) -> None:
    definition, solution = tmp_path / "d.json", tmp_path / "s.json"
    definition.write_text(json.dumps(DEFINITION))
    solution.write_text(json.dumps(SOLUTION))
    places = tmp_path / "places.toml"
    places.write_text(
        '[[place]]\nname = "bare"\nlaunch = ["false"]\n[[place]]\nname = "far"\nlaunch = ["env"]\n'
    )
    words = ("-d", str(definition), "--axes", "n=64", "--device", "cpu", "--iterations", "2")
    answer = fictl("solution", "run", str(solution), *words, "--on", str(places))
    assert answer.code == 0, answer.out + answer.err
    assert "place far" in answer.out
    assert "place bare: its process did not start" in answer.err
