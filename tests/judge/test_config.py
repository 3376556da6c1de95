from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fictl.errors import UsageError
from fictl.judge.config import EvalConfig
from fictl.judge.config_file import config_file, layers, parse
from fictl.trace import Definition, Workload

_SPEC = {"shape": ["n"], "dtype": "float32"}


def definition(name: str = "d", op_type: str = "norm") -> Definition:
    return Definition.model_validate(
        {
            "name": name,
            "op_type": op_type,
            "axes": {"n": {"type": "var"}},
            "inputs": {"x": _SPEC},
            "outputs": {"y": _SPEC},
            "reference": "def run(x): return x",
        }
    )


def workload(tolerance: dict[str, Any] | None) -> Workload:
    said = {"axes": {"n": 1}, "inputs": {}, "uuid": "w", "tolerance": tolerance}
    return Workload.model_validate(said)


@pytest.mark.parametrize(
    ("name", "value", "hint"),
    [
        ("rtol", -1.0, "a number from 0"),
        ("rtol", float("nan"), "a number from 0"),
        ("atol", "1e-2", "a number from 0"),
        ("iterations", 0, "a whole number from 1"),
        ("iterations", 1.5, "a whole number from 1"),
        ("num_trials", True, "a whole number from 1"),
        ("warmup_runs", -1, "a whole number from 0"),
        ("required_matched_ratio", 1.1, "a share from 0 to 1"),
        ("timeout_seconds", 0, "a number of seconds above 0"),
        ("sampling_tvd_threshold", 2, "a share from 0 to 1"),
        ("device", "tpu", "one of cuda, emu, cpu"),
        ("untrusted", 1, "true or false"),
        ("formula", "product", "one of either, sum"),
    ],
)
def test_a_value_that_cannot_be_is_refused(name: str, value: Any, hint: str) -> None:
    with pytest.raises(UsageError, match=f"{name} is") as caught:
        EvalConfig(**{name: value})
    assert caught.value.hint == f"it must be {hint}"


def test_the_nearer_layer_wins() -> None:
    said = """
        rtol = 0.1
        atol = 0.1
        num_trials = 4
        [op_type.norm]
        atol = 0.2
        num_trials = 5
        [definition.d]
        num_trials = 6
    """
    file = parse(Path("eval_config.toml"), said)
    config = layers(definition(), file, {"iterations": 7})
    assert (config.rtol, config.atol, config.num_trials, config.iterations) == (0.1, 0.2, 6, 7)
    assert layers(definition("other", "gemm"), file).atol == 0.1


def test_the_command_line_wins_over_all() -> None:
    file = parse(Path("f"), "[definition.d]\nrtol = 0.5")
    assert layers(definition(), file, {"rtol": 0.25}).rtol == 0.25


def test_flashinfer_benchs_keys_are_read() -> None:
    said = """
        [op_type_config.sampling.extra]
        sampling_tvd_threshold = 0.3
        [definition_config.d]
        required_matched_ratio = 0.9
    """
    file = parse(Path("f"), said)
    assert layers(definition("s", "sampling"), file).sampling_tvd_threshold == 0.3
    assert layers(definition(), file).required_matched_ratio == 0.9


def test_experts_need_not_agree_on_every_token() -> None:
    assert layers(definition(op_type="moe")).required_matched_ratio == 0.95
    file = parse(Path("f"), "[op_type.moe]\nrequired_matched_ratio = 1.0")
    assert layers(definition(op_type="moe"), file).required_matched_ratio == 1.0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rtl = 1", r"f:1: rtl = 1: there is no such key"),
        ("\nrtol = '1'", r"f:2: rtol = '1'"),
        ("[op_type.moe]\niterations = 0", r"f:2: op_type.moe.iterations = 0"),
        ("op_type = 3", r"op_type = 3"),
        ("[definition]\nd = 3", r"definition.d = 3"),
        ("rtol = ", r"not valid TOML"),
        ("device = 'cpu'", r"there is no such key"),
        ("untrusted = false", r"there is no such key"),
    ],
)
def test_an_error_names_file_and_key(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse(Path("f"), text)


def test_a_slip_of_the_pen_is_corrected() -> None:
    with pytest.raises(UsageError) as caught:
        parse(Path("f"), "iteration = 3")
    assert caught.value.hint == "is it iterations?"


def test_a_dataset_needs_no_file(tmp_path: Path) -> None:
    assert config_file(tmp_path).path is None
    with pytest.raises(UsageError, match="cannot be read"):
        config_file(tmp_path, tmp_path / "given.toml")


def test_a_workload_brings_its_own_tolerance() -> None:
    own = EvalConfig(rtol=0.5).for_workload(
        workload({"max_atol": 0.25, "max_rtol": 0.125, "max_error_cap": 2.0})
    )
    assert (own.formula, own.atol, own.rtol, own.max_error_cap) == ("sum", 0.25, 0.125, 2.0)
    assert own.required_matched_ratio == 0.99


def test_a_workload_without_one_changes_nothing() -> None:
    config = EvalConfig(rtol=0.5)
    assert config.for_workload(workload(None)) is config


def test_what_the_command_line_says_holds_for_every_workload() -> None:
    config = layers(definition(), None, {"rtol": 0.5})
    own = config.for_workload(workload({"max_atol": 0.25, "max_rtol": 0.125}))
    assert (own.rtol, own.atol) == (0.5, 0.25)
