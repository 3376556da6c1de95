from __future__ import annotations


def test_a_write_beyond_the_end_is_found_in_the_solutions_source(fictl, solution, astray) -> None:
    words = ("--workload", str(astray), "--device", "emu")
    answer = fictl("solution", "sanitize", str(solution), *words, "--json")
    data = answer.document["data"]
    assert (answer.code, data["status"]) == (1, "DEFECTS"), data
    (check,) = data["checks"]
    (finding,) = check["findings"]
    place = (finding["file"], finding["line"])
    assert place == ("kernels/include/stray/elementwise/shift.cuh", 11)
    assert finding["file"] in finding["text"]


def test_without_a_gpu_its_tools_are_refused(fictl, solution) -> None:
    answer = fictl("solution", "sanitize", str(solution), "--device", "cuda")
    assert answer.code == 3


def test_an_unknown_tool_is_refused(fictl, solution) -> None:
    words = ("--device", "cuda", "--tool", "valgrind")
    answer = fictl("solution", "sanitize", str(solution), *words)
    assert answer.code == 2
    assert "valgrind" in answer.err
