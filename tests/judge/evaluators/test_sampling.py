from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from fictl.judge.evaluators.distribution import distributions
from fictl.judge.evaluators.verdict import Verdict

from .samples import definition, evaluator

Sampler = Callable[[dict[str, Any]], torch.Tensor]
ROWS, VOCABULARY, TRIALS = 8, 300, 60


def inputs(trial: int, **more: Any) -> dict[str, Any]:
    generator = torch.Generator().manual_seed(trial)
    logits = 2 * torch.randn(ROWS, VOCABULARY, generator=generator)
    return {"probs": logits.softmax(-1), **more}


def judged(sampler: Sampler, trials: int = TRIALS, **more: Any) -> Verdict:
    spec = {"probs": {"shape": ["n", "v"], "dtype": "float32"}}
    spec |= {name: {"shape": None, "dtype": "float32"} for name in more}
    made = definition(
        op_type="sampling", inputs=spec, outputs={"samples": {"shape": ["n"], "dtype": "int32"}}
    )
    ours = evaluator(made)
    verdicts = []
    torch.manual_seed(0)
    for trial in range(trials):
        given = inputs(trial, **more)
        verdicts.append(ours.check({"samples": sampler(given)}, {}, given))
        if not verdicts[-1].passed:
            break
    return ours.finish(verdicts)


def draw(probs: torch.Tensor) -> torch.Tensor:
    return torch.multinomial(probs, 1)[:, 0].int()


def honest(given: dict[str, Any]) -> torch.Tensor:
    return draw(next(distributions(given))[1].share.new_zeros(ROWS, VOCABULARY) + _exact(given))


def _exact(given: dict[str, Any]) -> torch.Tensor:
    """By token, of what `distributions` gives by rank."""
    one = next(distributions(given))[1]
    return torch.zeros_like(one.share).scatter(-1, one.token, one.share)


@pytest.mark.parametrize(
    "more",
    [{}, {"top_k": 10}, {"top_p": 0.3}, {"top_k": 20, "top_p": 0.5}, {"min_p": 0.2}],
    ids=lambda more: "-".join(more) or "all",
)
def test_right_samples_pass(more: dict[str, Any]) -> None:
    verdict = judged(honest, **more)
    assert verdict.passed, verdict.note
    assert verdict.correctness is not None
    assert verdict.correctness.extra is not None
    assert verdict.correctness.extra["samples"] == ROWS * TRIALS
    assert verdict.correctness.extra["tvd"] < 0.15


@pytest.mark.parametrize(
    ("sampler", "note"),
    [
        (lambda given: given["probs"].argmax(-1).int(), "not distributed"),
        (lambda given: draw(given["probs"] ** 0.5), "not distributed"),
        (lambda given: draw(torch.ones_like(given["probs"])), "not distributed"),
        (lambda given: draw(given["probs"].roll(1, 0)), "not distributed"),  # rows mixed up
        (lambda given: torch.full((ROWS,), VOCABULARY, dtype=torch.int32), "samples has 300"),
        (lambda given: torch.full((ROWS,), -1, dtype=torch.int32), "samples has -1"),
    ],
    ids=["greedy", "flat", "uniform", "rows", "above", "below"],
)
def test_wrong_samples_do_not(sampler: Sampler, note: str) -> None:
    verdict = judged(sampler)
    assert verdict.status.value == "INCORRECT_NUMERICAL"
    assert note in verdict.note


@pytest.mark.parametrize("more", [{"top_k": 10}, {"top_p": 0.3}, {"min_p": 0.2}])
def test_a_token_that_may_not_be_drawn_is_wrong_at_once(more: dict[str, Any]) -> None:
    verdict = judged(lambda given: draw(given["probs"]), **more)
    assert "of a row that may not draw it" in verdict.note


def test_a_token_of_no_probability_is_wrong() -> None:
    def sampler(given: dict[str, Any]) -> torch.Tensor:
        given["probs"][:, 7] = 0
        return torch.full((ROWS,), 7, dtype=torch.int32)

    assert "token 7 of a row" in judged(sampler, trials=1).note


def test_the_token_that_crosses_top_p_belongs_to_it() -> None:
    """flashinfer-bench leaves it out, and refuses right samples."""
    given = {"probs": torch.tensor([[0.5, 0.3, 0.2]]), "top_p": 0.6}
    one = next(distributions(given))[1]
    assert one.allowed.tolist() == [[True, True, False]]
    assert one.share.tolist() == [[pytest.approx(0.625), pytest.approx(0.375), 0]]


def test_tokens_as_likely_as_the_last_of_top_k_may_be_drawn() -> None:
    given = {"probs": torch.tensor([[0.4, 0.2, 0.2, 0.2]]), "top_k": 2}
    assert next(distributions(given))[1].allowed.all()


def test_parameters_may_be_of_each_row() -> None:
    given = {"probs": torch.tensor([[0.5, 0.3, 0.2]] * 2), "top_k": torch.tensor([1, 2])}
    assert next(distributions(given))[1].allowed.sum(-1).tolist() == [1, 2]


def test_logits_have_a_temperature() -> None:
    given = {"logits": torch.tensor([[0.0, 1.0]]), "temperature": 0.5}
    one = next(distributions(given))[1]
    assert one.share[0, 0] == pytest.approx(float(torch.tensor([2.0, 0.0]).softmax(-1)[0]))


def test_rows_are_taken_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fictl.judge.evaluators.distribution._CHUNK", 3 * VOCABULARY)
    given = inputs(0)
    assert [rows for rows, _ in distributions(given)] == [slice(0, 3), slice(3, 6), slice(6, 8)]


def test_too_few_samples_tell_nothing_and_that_is_said() -> None:
    verdict = judged(honest, trials=2)
    assert verdict.passed
    assert verdict.correctness is not None
    assert verdict.correctness.extra == {"tvd_skipped": True, "samples": 16}


@pytest.mark.parametrize(
    ("made", "status"),
    [
        (torch.zeros(ROWS, 1, dtype=torch.int32), "INCORRECT_SHAPE"),
        (torch.zeros(ROWS + 1, dtype=torch.int32), "INCORRECT_SHAPE"),
        (torch.zeros(ROWS, dtype=torch.int64), "INCORRECT_DTYPE"),
    ],
)
def test_shape_and_dtype_are_checked(made: torch.Tensor, status: str) -> None:
    assert judged(lambda given: made, trials=1).status.value == status
