from __future__ import annotations


def test_a_profile_needs_a_gpu(fictl, solution) -> None:
    answer = fictl("solution", "profile", str(solution))
    assert answer.code == 3
    assert "ncu measures GPUs" in answer.err
