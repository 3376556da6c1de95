from __future__ import annotations

from fictl.testing.generated.seed import seed_of, session_seed


def test_every_run_has_another_one() -> None:
    assert len({session_seed() for _ in range(8)}) == 8


def test_processes_of_one_run_have_the_same() -> None:
    assert session_seed("run") == session_seed("run") != session_seed("another")


def test_the_name_of_a_generated_test_has_it() -> None:
    assert seed_of("norm-3x64-float16,strided,seed=123") == 123
    assert seed_of("norm-3x64-float16,strided") is None
