"""SpeculativeEvaluator: checks accepted drafts and drawn tokens of a speculative sampler."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fictl.judge.evaluators.distribution import Distribution
from fictl.judge.evaluators.sampling import SamplingEvaluator, wrong
from fictl.judge.evaluators.tally import BINS
from fictl.judge.evaluators.verdict import Verdict

if TYPE_CHECKING:
    import torch

    from fictl.trace import Definition

_INPUTS = ("draft_probs", "draft_token_ids", "target_probs")
_NONE = -1
_KINDS = 8
_WITHIN = BINS // _KINDS - 1


def is_speculative(definition: Definition) -> bool:
    """Tell whether the first output has a row for each request, one longer than its drafts."""
    first = next(iter(definition.outputs.values()), None)
    drawn = first is not None and first.dtype in ("int32", "int64") and len(first.shape or ()) == 2
    return drawn and all(name in definition.inputs for name in _INPUTS)


@dataclass
class SpeculativeEvaluator(SamplingEvaluator):
    """Knows the distribution of each step's token, given the drafts accepted before it.

    A draft is accepted with probability min(1, q/p); otherwise the token is drawn from max(q - p,
    0) and ends the request.
    """

    name: str = "speculative"

    def check(
        self,
        outputs: Mapping[str, torch.Tensor],
        expected: Mapping[str, torch.Tensor],
        inputs: Mapping[str, Any],
    ) -> Verdict:
        name = next(iter(self.definition.outputs))
        drafts = inputs["draft_token_ids"]
        problem = self._misfit(name, outputs, drafts.shape[0] * (drafts.shape[1] + 1))
        if problem is not None:
            return problem
        out = outputs[name].long()
        going = drafts.new_ones(drafts.shape[0], dtype=bool)
        for step, (distribution, bins) in enumerate(_steps(inputs)):
            drawn = out[:, step]
            if bool((drawn[~going] != _NONE).any()):
                return wrong(f"{name} has a token after the one that ends a request")
            among = drawn[going]
            if bool(((among < 0) | (among >= distribution.share.shape[-1])).any()):
                return wrong(f"{name} has no token of the vocabulary in step {step}")
            forbidden = self._count(among, distribution.of(going), bins[going])
            if forbidden is not None:
                return wrong(
                    f"{name}: token {forbidden} in step {step}, which may not be drawn there"
                )
            if step < drafts.shape[1]:
                going = going & (drawn == drafts[:, step])
        return self._passed()


def _steps(inputs: Mapping[str, Any]) -> Iterator[tuple[Distribution, torch.Tensor]]:
    """Distributions of each step's token, a row for each request: the draft, then its
    alternatives.
    """
    import torch

    p, q, ids = (inputs[name] for name in ("draft_probs", "target_probs", "draft_token_ids"))
    for step in range(p.shape[1]):
        token, wanted, given = ids[:, step, None].long(), q[:, step].double(), p[:, step].double()
        accepted = (wanted.gather(-1, token) / given.gather(-1, token)).nan_to_num(0.0)
        rest = (wanted - given).clamp(min=0.0)
        rest = torch.where(rest.sum(-1, keepdim=True) > 0, rest, wanted)
        yield _step(token, accepted.clamp(0.0, 1.0), rest)
    last = q[:, -1].double()
    none = last.new_zeros(last.shape[0], 1)
    yield _step(none.long() + _NONE, none, last)


def _step(
    token: torch.Tensor, accepted: torch.Tensor, rest: torch.Tensor
) -> tuple[Distribution, torch.Tensor]:
    """Bins separate drafts by their probability of acceptance, and other tokens by their own."""
    import torch

    kinds = (accepted * _KINDS).long().clamp_(0, _KINDS - 1)
    among, order = (rest / rest.sum(-1, keepdim=True)).sort(-1, descending=True)
    within = ((among.cumsum(-1) - among) * _WITHIN).long().clamp_(0, _WITHIN - 1)
    bins = torch.cat([kinds, _KINDS + kinds * _WITHIN + within], -1)
    share = torch.cat([accepted, among * (1 - accepted)], -1)
    return Distribution(torch.cat([token, order], -1), share, share > 0), bins
