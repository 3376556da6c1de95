"""Sizes of chain_speculative_sampling that users meet: few drafts, large vocabularies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import torch

from fictl.bench import compiled
from fictl.trace import Case

_SMALL = (((5, 4, 64), "float32"), ((3, 2, 111), "float16"), ((2, 3, 1500), "bfloat16"))
_SIZES = ((64, 4, 128256), (1, 4, 128256), (8, 7, 151936), (256, 3, 32003))


def cases() -> Iterator[Case]:
    """Yield cases without seeds: engines use the generator outside of CUDA graphs."""
    for sizes, dtype in _SMALL:
        yield _case(sizes, dtype)
    for sizes in _SIZES:
        yield _case(sizes, "float32")
    yield _case(_SIZES[0], "bfloat16")


def _case(sizes: tuple[int, int, int], dtype: str) -> Case:
    named = dict(zip(("requests", "drafts", "vocab"), sizes, strict=True))
    return Case("chain_speculative_sampling", named, dtype)


def baselines() -> dict[str, Callable[..., Any]]:
    return {"torch": _torch, "inductor": _inductor, "flashinfer": _flashinfer}


def _torch(**inputs: Any) -> Callable[[], Any]:
    return lambda: _sampled(**_used(inputs))


def _inductor(**inputs: Any) -> Any:
    return _compiled(**_used(inputs))


def _flashinfer(**inputs: Any) -> Callable[[], Any]:
    theirs = import_module("flashinfer.sampling").chain_speculative_sampling
    return lambda: theirs(**inputs)


def _used(inputs: dict[str, Any]) -> dict[str, Any]:
    """Drop the optional inputs, counts and seeds, that no case passes."""
    names = ("draft_probs", "draft_token_ids", "target_probs")
    return {name: inputs[name] for name in names}


def _sampled(
    draft_probs: torch.Tensor, draft_token_ids: torch.Tensor, target_probs: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Draw as engines write it: from all rows, though only one of each request is used."""
    drafts = draft_token_ids.shape[1]
    token = draft_token_ids.long().unsqueeze(-1)
    p = draft_probs.gather(-1, token).squeeze(-1)
    q = target_probs[:, :drafts].gather(-1, token).squeeze(-1)
    taken = torch.rand_like(p, dtype=torch.float32) * p < q
    emitted = taken.int().cumprod(1).sum(1)
    beside = torch.nn.functional.pad(draft_probs, (0, 0, 0, 1))
    at = emitted.view(-1, 1, 1).expand(-1, 1, target_probs.shape[-1])
    weights = (target_probs.gather(1, at) - beside.gather(1, at)).squeeze(1).float().clamp(min=0)
    times = torch.rand_like(weights).log().neg()
    last = (times / weights).argmin(-1)
    steps = torch.arange(drafts + 1, device=token.device)
    padded = torch.nn.functional.pad(draft_token_ids, (0, 1))
    out = torch.where(steps < emitted.unsqueeze(1), padded, -1)
    out = torch.where(steps == emitted.unsqueeze(1), last.unsqueeze(1).int(), out)
    return out, taken.int().sum(1), emitted


_compiled = compiled(_sampled)
