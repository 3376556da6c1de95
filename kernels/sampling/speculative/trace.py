"""Trace of chain_speculative_sampling: reference, and judge of its draws."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from fictl.op import uniforms
from fictl.trace import Const, Expr, Scalar, Tensor, TraceTemplate, Var

_COUNTS = ("output_accepted_token_num", "output_emitted_draft_token_num")


def _reference(
    draft_probs: torch.Tensor,
    draft_token_ids: torch.Tensor,
    target_probs: torch.Tensor,
    maybe_output_accepted_token_num: torch.Tensor | None,
    maybe_output_emitted_draft_token_num: torch.Tensor | None,
    deterministic: bool,
    seed: torch.Tensor | None,
    offset: torch.Tensor | None,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Compute the result as if all random numbers were 0.5."""
    requests, drafts, vocab = draft_probs.shape
    at = torch.arange(requests, device=draft_probs.device)
    known = (draft_token_ids >= 0) & (draft_token_ids < vocab)
    token = torch.where(known, draft_token_ids, 0).long()[..., None]
    p, q = draft_probs.gather(-1, token)[..., 0], target_probs[:, :drafts].gather(-1, token)[..., 0]
    taken = known & (0.5 * p < q)
    emitted = taken.long().cumprod(1).sum(1)
    # Behind a draft that was taken whole nothing is to be taken off the target's row.
    beside = torch.cat((draft_probs * known[..., None], torch.zeros_like(target_probs[:, :1])), 1)
    target = target_probs[at, emitted].nan_to_num(0.0).clamp(min=0.0)
    beyond = (target_probs - beside)[at, emitted].nan_to_num(0.0).clamp(min=0.0)
    weights = torch.where(beyond.sum(-1, keepdim=True) > 0, beyond, target).cumsum(-1)
    half = 0.5 * weights[:, -1:]
    last = torch.searchsorted(weights, half, right=True).clamp(max=vocab - 1)

    out = torch.full((requests, drafts + 1), -1, dtype=torch.int32, device=at.device)
    steps = torch.arange(drafts, device=at.device)
    out[:, :drafts] = torch.where(steps < emitted[:, None], draft_token_ids, -1)
    out[at, emitted] = last[:, 0].int()
    before = (maybe_output_accepted_token_num, maybe_output_emitted_draft_token_num)
    counts = (taken.sum(1), emitted)
    accepted, at_once = (
        count.int() if given is None else given + count.int()
        for given, count in zip(before, counts, strict=True)
    )
    return out, accepted, at_once


def _judge(inputs: Mapping[str, Any], results: Mapping[str, Any]) -> None:
    """Check against the given random numbers, or without them against all possible ones."""
    draft, ids, target = (inputs[n] for n in ("draft_probs", "draft_token_ids", "target_probs"))
    requests, drafts, vocab = draft.shape
    out, (accepted, emitted) = results["out"].long(), _added(inputs, results)
    assert out.shape == (requests, drafts + 1), f"out has shape {tuple(out.shape)}"
    if requests == 0:
        return
    at = torch.arange(requests, device=out.device)
    assert bool(((emitted >= 0) & (emitted <= drafts)).all()), f"emitted are {emitted.tolist()}"
    assert bool((accepted >= emitted).all()), "fewer are accepted than emitted"
    steps = torch.arange(drafts + 1, device=out.device)
    known = (ids >= 0) & (ids < vocab)
    drafted = torch.where(steps[:drafts] < emitted[:, None], ids, -1)
    assert torch.equal(out.scatter(1, emitted[:, None], -1)[:, :drafts], drafted), "drafts differ"
    last = out[at, emitted]
    assert bool(((last >= 0) & (last < vocab)).all()), f"the last tokens are {last.tolist()}"

    weights = _weights(draft, known, target, emitted)
    until = weights.cumsum(-1)
    weight, total = weights[at, last], until[:, -1]
    assert bool(((weight > 0) | (total == 0)).all()), "a last token has no probability"
    if inputs.get("seed") is None:
        return
    u = uniforms(requests, drafts + 2, inputs["seed"], inputs["offset"], out.device)
    p, q = (_of(x[:, :drafts], ids, known) for x in (draft, target))
    taken = known & (u[:, :drafts].float() * p < q)
    assert torch.equal(accepted, taken.sum(1)), "other drafts are to be accepted"
    assert torch.equal(emitted, taken.long().cumprod(1).sum(1)), "other drafts are to be emitted"
    sought = u[at, torch.where(emitted == drafts, drafts, drafts + 1)] * total
    # The sums are of fp32, in some order.
    near = 1e-5 * total
    right = (until[at, last] + near >= sought) & (until[at, last] - weight - near <= sought)
    assert bool((right | (total == 0)).all()), f"last tokens of {(~right).nonzero()[:5].tolist()}"


def _added(
    inputs: Mapping[str, Any], results: Mapping[str, Any]
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the numbers of drafts that this call accepted and emitted."""
    before = (inputs.get(f"maybe_{name}") for name in _COUNTS)
    after = (results[name].long() for name in _COUNTS)
    accepted, emitted = (y if x is None else y - x for x, y in zip(before, after, strict=True))
    return accepted, emitted


def _of(probs: torch.Tensor, ids: torch.Tensor, known: torch.Tensor) -> torch.Tensor:
    """Gather the probabilities of tokens in fp32; those of unknown tokens are token 0's."""
    return probs.gather(-1, torch.where(known, ids, 0).long()[..., None])[..., 0].float()


def _weights(
    draft: torch.Tensor, known: torch.Tensor, target: torch.Tensor, emitted: torch.Tensor
) -> torch.Tensor:
    """Compute the weights that the last token of each request is drawn from."""
    at, drafts = torch.arange(len(draft), device=draft.device), draft.shape[1]
    q = target[at, emitted].double().nan_to_num(0.0).clamp(min=0.0)
    if drafts == 0:
        return q
    step = emitted.clamp(max=drafts - 1)
    p = draft[at, step].double()
    beyond = (target[at, emitted].double() - p).nan_to_num(0.0).clamp(min=0.0)
    is_beyond = (emitted < drafts) & known[at, step] & (beyond.sum(-1) > 0)
    return torch.where(is_beyond[:, None], beyond, q)


def _init(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    """Make two similar models, drafts of the first one, and counts of earlier calls."""
    requests, drafts, vocab = sizes["requests"], sizes["drafts"], sizes["vocab"]

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(shape, device=device, generator=generator)

    logits = 2 * normal(requests, drafts + 1, vocab)
    draft = torch.softmax(logits[:, :drafts] + normal(requests, drafts, vocab), -1)
    # Of exponential numbers over weights the least is drawn by weight.
    times = torch.rand(draft.shape, device=device, generator=generator).log_().neg_()
    counts = torch.arange(requests, dtype=torch.int32, device=device)
    return {
        "draft_probs": draft.to(dtype),
        "target_probs": torch.softmax(logits, -1).to(dtype),
        "draft_token_ids": (times / draft).argmin(-1).to(torch.int32),
        "maybe_output_accepted_token_num": 7 * counts,
        "maybe_output_emitted_draft_token_num": 3 * counts,
        "seed": torch.randint(-(2**63), 2**63 - 1, (requests,), device=device, generator=generator),
        "offset": torch.randint(0, 2**40, (requests,), device=device, generator=generator),
    }


def _bytes(sizes: Mapping[str, int], inputs: Mapping[str, Any]) -> int:
    """Count all rows of a request, and the draft's and the target's again where the draft ends."""
    read = 2 * sizes["vocab"] * inputs["target_probs"].element_size()
    return int(sizes["requests"] * (read + 4 * (2 * sizes["drafts"] + 3)))


_COUNT = Tensor(("requests",), dtype="int32", optional=True, doc="what the count is added to")
_NUMBER = Tensor(("requests",), dtype="int64", optional=True, doc="of the random numbers")

chain_speculative_sampling = TraceTemplate(
    axes={
        "requests": Var("sequences of the batch"),
        "drafts": Var("drafted tokens of each"),
        "vocab": Const("tokens there are", "v"),
        "steps": Expr("drafts + 1", "tokens of a sequence, at most"),
    },
    inputs={
        "draft_probs": Tensor(
            ("requests", "drafts", "vocab"), doc="what the drafts are drawn from"
        ),
        "draft_token_ids": Tensor(("requests", "drafts"), dtype="int32", doc="the drafts"),
        "target_probs": Tensor(
            ("requests", "steps", "vocab"), dtype_from="draft_probs", doc="what tokens should be of"
        ),
        "maybe_output_accepted_token_num": _COUNT,
        "maybe_output_emitted_draft_token_num": _COUNT,
        "deterministic": Scalar("bool", True, "looked at no more"),
        "seed": _NUMBER,
        "offset": _NUMBER,
    },
    outputs={
        "out": Tensor(("requests", "steps"), dtype="int32"),
        "output_accepted_token_num": Tensor(("requests",), dtype="int32"),
        "output_emitted_draft_token_num": Tensor(("requests",), dtype="int32"),
    },
    reference=_reference,
    judge=_judge,
    constraints=("vocab >= 1",),
    init=_init,
    bytes=_bytes,
    description="Take drafted tokens as a target model would, and draw the next one.",
)
