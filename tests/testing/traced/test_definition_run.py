from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fictl.errors import UsageError
from fictl.testing.traced.definition_run import refuse_hostile, run_definition
from fictl.trace import Definition

DEFINITIONS = Path(__file__).resolve().parents[2] / "trace" / "definitions"
RMSNORM = DEFINITIONS / "rmsnorm" / "rmsnorm_h64_bf16.json"


@pytest.fixture
def emulated(users_cache: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FICTL_DEVICE", "emu")


def rmsnorm(**changes: Any) -> Definition:
    return Definition.model_validate({**Definition.read(RMSNORM).to_dict(), **changes})


def test_an_op_matches_the_reference_of_its_definition(emulated: None) -> None:
    result = run_definition(rmsnorm(), "emu", {})
    assert result.mismatch == ""
    assert result.sizes == {"rows": 7, "hidden": 64}


def test_sizes_may_be_given(emulated: None) -> None:
    assert run_definition(rmsnorm(), "emu", {"rows": 3}).sizes["rows"] == 3


def test_another_reference_is_a_mismatch(emulated: None) -> None:
    wrong = "def run(input, weight, eps):\n    return input\n"
    result = run_definition(rmsnorm(reference=wrong), "emu", {})
    assert "elements differ; worst at" in result.mismatch


@pytest.mark.parametrize("name", ["SegmentSum_d64_bf16"])
def test_a_class_with_plan_and_run_matches_too(emulated: None, name: str) -> None:
    made = Definition.read(DEFINITIONS / "SegmentSum" / f"{name}.json")
    assert run_definition(made, "emu", {"rows": 40}).mismatch == ""


OTHER = {"other": {"shape": ["rows"], "dtype": "bfloat16"}}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"tags": []}, "rmsnorm_h64_bf16 names no op"),
        ({"tags": ["fi_api:fictl.ops.nothing"]}, "there is no op 'fictl.ops.nothing' here"),
        ({"tags": ["fi_api:os.ops.system"]}, "there is no op 'os.ops.system' here"),
        ({"reference": "def run(input, weight, eps):\n    return 1 / 0\n"}, "ZeroDivisionError"),
        ({"outputs": OTHER}, "the outputs of rmsnorm_h64_bf16 are not those of fictl.ops.rmsnorm"),
    ],
)
def test_what_cannot_be_run_is_refused(emulated: None, changes: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        run_definition(rmsnorm(**changes), "emu", {})


def test_a_size_of_what_is_no_variable_axis_is_refused(emulated: None) -> None:
    with pytest.raises(UsageError, match="--axes names hidden") as info:
        run_definition(rmsnorm(), "emu", {"hidden": 8})
    assert info.value.hint == "it may name rows"


def test_sizes_beyond_reason_are_refused(emulated: None) -> None:
    with pytest.raises(UsageError, match="is too large to run"):
        run_definition(rmsnorm(), "emu", {"rows": 1 << 50})


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import os", "import 'os'"),
        ("from subprocess import run as go", "import 'subprocess'"),
        ("import torch.hub", "import 'hub'"),
        ("from torch import hub", "import 'hub'"),
        ("from . import thing", "import ''"),
        ("x = open('/etc/passwd')", "open"),
        ("x = __import__('os')", "__import__"),
        ("x = ().__class__", ".__class__"),
        ("x = torch.load('x')", ".load"),
        ("x = getattr(torch, 'lo' + 'ad')", "getattr"),
        ("eval('1')", "eval"),
    ],
)
def test_code_that_does_more_than_compute_is_refused(code: str, said: str) -> None:
    made = rmsnorm(
        reference=f"import torch\n{code}\ndef run(input, weight, eps):\n    return input\n"
    )
    with pytest.raises(UsageError, match="which computes nothing") as info:
        refuse_hostile(made)
    assert f"its code has {said}," in info.value.message


def test_what_we_write_ourselves_is_not_hostile() -> None:
    for path in DEFINITIONS.rglob("*.json"):
        refuse_hostile(Definition.read(path))
