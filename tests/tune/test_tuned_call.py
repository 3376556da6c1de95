"""Candidates are tried on copies: what the caller has stays, what nobody wrote is poison."""

from __future__ import annotations

from typing import Any

import torch

from fictl.tune.tuned_call import TunedCall

Q = torch.randn(5, 64)


def test_outputs_that_the_function_allocates_are_given_poisoned(
    declared: Any, untuned: Any
) -> None:
    tuned = TunedCall(untuned(declared(), q=Q))
    arguments = tuned.copy()
    assert torch.equal(arguments["q"], Q)
    assert arguments["q"].data_ptr() != Q.data_ptr()
    assert bool(arguments["out"].isnan().all())
    assert tuned.working_set == 2 * Q.numel() * Q.element_size()


def test_an_output_that_is_an_input_keeps_its_numbers(declared: Any, untuned: Any) -> None:
    q = Q.clone()
    arguments = TunedCall(untuned(declared(), q=q, out=q)).copy()
    assert arguments["out"] is arguments["q"]
    assert torch.equal(arguments["q"], Q)
    assert torch.equal(q, Q)


def test_a_candidate_that_raises_is_refused_with_its_error(declared: Any, untuned: Any) -> None:
    def fails_with_four(q: Any, out: Any = None, tactic: Any = None) -> Any:
        if tactic.parts == 4:
            raise ValueError("four is too many")
        return torch.mul(q, 2, out=torch.empty_like(q) if out is None else out)

    tuned = TunedCall(untuned(declared(fails_with_four), q=Q))
    assert [tuned.problem(candidate) for candidate in (1, 2)] == ["", "four is too many"]
