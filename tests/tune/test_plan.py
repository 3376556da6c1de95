"""What there is to tune: each key once, and nothing that has no choice."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.errors import InvalidValue, UsageError
from fictl.tune.plan import plan

KEYS = ["input=float32 d=8 n<=8", "input=float16 d=8 n<=8"]


def test_each_key_is_there_once_with_its_first_case(tuned_project: Path) -> None:
    work = plan(["twice"])
    assert [each.key for each in work] == KEYS
    assert [str(each.case) for each in work] == ["twice-5x8-float32", "twice-5x8-float16"]
    assert {each.candidates for each in work} == {("4", "1", "3", "13")}


def test_on_a_gpu_large_cases_are_there(
    tuned_project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FICTL_DEVICE", "cuda")
    assert "input=float32 d=8 n<=1048576" in [each.key for each in plan(["twice"])]


@pytest.mark.parametrize("asked", [{"dtype": "f16"}, {"case": "float16"}])
def test_cases_are_chosen_by_dtype_and_name(asked: dict[str, str], tuned_project: Path) -> None:
    assert [each.key for each in plan(["twice"], **asked)] == KEYS[1:]


def test_an_op_without_tactics_is_said(tiny: Path) -> None:
    with pytest.raises(UsageError, match="twice has no tactics"):
        plan(["twice"])


def test_a_case_that_there_is_not_is_said_with_those_there_are(tuned_project: Path) -> None:
    with pytest.raises(UsageError, match="no case matches 7x7x7") as error:
        plan(["twice"], case="7x7x7")
    assert "twice-5x8-float32" in error.value.hint


def test_a_dtype_that_is_none_is_said(tuned_project: Path) -> None:
    with pytest.raises(InvalidValue, match="unknown dtype 'half'"):
        plan(["twice"], dtype="half")


def test_one_tactic_is_nothing_to_tune(tuned_project: Path) -> None:
    file = tuned_project / "kernels/elementwise/twice/op.py"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("return 4, 1, 3, 13", "return (4,)"), encoding="utf-8")
    with pytest.raises(UsageError, match="nothing to tune"):
        plan(["twice"])


def test_tactics_are_those_of_the_backend_that_a_call_gets(tuned_project: Path) -> None:
    file = tuned_project / "kernels/elementwise/twice/op.py"
    text = file.read_text(encoding="utf-8")
    text = text.replace("waits() -> tuple[int, ...]:", "waits(backend: str) -> tuple[int, ...]:")
    text = text.replace("return 4, 1, 3, 13", 'return (4, 1) if backend == "old" else (7,)')
    text = text.replace('archs=">=8.0"', 'backends={"new": "12.1a", "old": ">=8.0"}')
    text = text.replace("tactic: int |", 'backend: str = "auto", tactic: int |')
    file.write_text(text, encoding="utf-8")
    assert {each.candidates for each in plan(["twice"])} == {("4", "1")}
