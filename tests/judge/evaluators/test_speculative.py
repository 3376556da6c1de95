from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
import torch

from fictl.judge.evaluators.verdict import Verdict

from .samples import definition, evaluator

REQUESTS, DRAFTS, VOCABULARY, TRIALS = 16, 3, 50, 50
Sampler = Callable[[dict[str, torch.Tensor]], torch.Tensor]


def inputs(trial: int) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(trial)
    logits = 2 * torch.randn(REQUESTS, DRAFTS + 1, VOCABULARY, generator=generator)
    other = torch.randn(REQUESTS, DRAFTS, VOCABULARY, generator=generator)
    draft = (logits[:, :DRAFTS] + other).softmax(-1)
    ids = torch.multinomial(draft.flatten(0, 1), 1, generator=generator).reshape(REQUESTS, DRAFTS)
    return {"draft_probs": draft, "draft_token_ids": ids.int(), "target_probs": logits.softmax(-1)}


def sampled(
    given: dict[str, torch.Tensor], accepts: Callable[[float, float], bool]
) -> torch.Tensor:
    p, q, ids = (given[name] for name in ("draft_probs", "target_probs", "draft_token_ids"))
    out = torch.full((REQUESTS, DRAFTS + 1), -1, dtype=torch.int32)
    for row in range(REQUESTS):
        for step in range(DRAFTS + 1):
            last = q[row, step]
            if step < DRAFTS:
                token = int(ids[row, step])
                if accepts(float(q[row, step, token]), float(p[row, step, token])):
                    out[row, step] = token
                    continue
                last = (q[row, step] - p[row, step]).clamp(min=0)
            out[row, step] = torch.multinomial(last, 1)[0]
            break
    return out


def honest(given: dict[str, torch.Tensor]) -> torch.Tensor:
    return sampled(given, lambda q, p: float(torch.rand(())) < q / p)


def judged(sampler: Sampler, trials: int = TRIALS) -> Verdict:
    probs = {"shape": ["n", "v"], "dtype": "float32"}
    names = ("draft_probs", "target_probs")
    made = definition(
        inputs={
            **dict.fromkeys(names, probs),
            "draft_token_ids": {"shape": ["n"], "dtype": "int32"},
        },
        outputs={"out": {"shape": ["n", "v"], "dtype": "int32"}},
    )
    ours = evaluator(made)
    assert ours.name == "speculative"
    verdicts = []
    torch.manual_seed(0)
    for trial in range(trials):
        given: dict[str, Any] = inputs(trial)
        verdicts.append(ours.check({"out": sampler(given)}, {}, given))
        if not verdicts[-1].passed:
            break
    return ours.finish(verdicts)


def test_a_right_sampler_passes() -> None:
    verdict = judged(honest)
    assert verdict.passed, verdict.note
    assert verdict.correctness is not None
    assert verdict.correctness.extra is not None
    assert verdict.correctness.extra["samples"] > REQUESTS * TRIALS


def drawn_only(given: dict[str, torch.Tensor]) -> torch.Tensor:
    """Of the target, whatever the draft was: right tokens, one a request."""
    return sampled(given, lambda q, p: False)


@pytest.mark.parametrize(
    ("sampler", "note"),
    [
        (lambda given: sampled(given, lambda q, p: q > p), "not distributed"),
        (drawn_only, "which may not be drawn there|not distributed"),
        (lambda given: sampled(given, lambda q, p: True), "not distributed"),
        (lambda given: honest(given).clamp(min=0), "after the one that ends"),
        (lambda given: honest(given) * 0 - 1, "no token of the vocabulary in step 0"),
        (lambda given: honest(given)[:, 1:], "out has shape"),
    ],
    ids=["certain", "never", "always", "goes on", "nothing", "short"],
)
def test_a_wrong_one_does_not(sampler: Sampler, note: str) -> None:
    verdict = judged(sampler)
    assert not verdict.passed
    assert re.search(note, verdict.note), verdict.note
