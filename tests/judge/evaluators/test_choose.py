from __future__ import annotations

from typing import Any

import pytest

from .samples import definition, evaluator

PROBS = {"probs": {"shape": ["n", "v"], "dtype": "float32"}}
TOKENS = {"samples": {"shape": ["n"], "dtype": "int32"}}


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({}, "default"),
        ({"op_type": "moe"}, "moe"),
        ({"op_type": "lowbit"}, "lowbit"),
        ({"dtype": "float8_e4m3fn"}, "lowbit"),
        ({"read": "float8_e4m3fn"}, "lowbit"),
        ({"dtype": "float8_e4m3fn", "read": "float8_e4m3fn"}, "default"),  # moved as it is
        ({"op_type": "sampling", "inputs": PROBS, "outputs": TOKENS}, "sampling"),
        ({"op_type": "my_sampling", "inputs": PROBS, "outputs": TOKENS}, "sampling"),
        ({"op_type": "sampling", "inputs": PROBS}, "default"),  # renormalises, draws nothing
        ({"op_type": "sampling", "outputs": TOKENS}, "default"),
    ],
)
def test_the_evaluator_fits_the_computation(change: dict[str, Any], name: str) -> None:
    assert evaluator(definition(**change)).name == name


def test_evaluators_count_for_themselves() -> None:
    made = definition(op_type="sampling", inputs=PROBS, outputs=TOKENS)
    assert evaluator(made).tally is not evaluator(made).tally  # type: ignore[attr-defined]


def test_rounds_are_configured() -> None:
    made = definition(op_type="sampling", inputs=PROBS, outputs=TOKENS)
    ours, theirs = evaluator(made), evaluator()
    from fictl.judge.config import EvalConfig

    config = EvalConfig(correctness_rounds=4, sampling_validation_trials=7)
    assert (ours.rounds(config), theirs.rounds(config)) == (7, 4)
    assert (ours.needs_expected, theirs.needs_expected) == (False, True)
