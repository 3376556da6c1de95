"""Traces of sampling from probabilities: references, and judges of which tokens may be drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from fictl.trace import Const, Scalar, Tensor, TraceTemplate, Var


def _top_k(probs: torch.Tensor, k: int) -> torch.Tensor:
    """Keep the elements of each row than which fewer than k are larger."""
    limit = min(k, probs.shape[-1]) if k > 0 else probs.shape[-1]
    least = probs.topk(limit, -1).values[..., -1:]
    return torch.where(probs >= least, probs, 0.0)


def _top_p(probs: torch.Tensor, p: float) -> torch.Tensor:
    """Keep the elements of each row than which the larger ones add up to less than p."""
    values, order = probs.sort(-1, descending=True)
    # Of equals, what is before the first of them.
    first = torch.searchsorted(-values, -values, side="left")
    above = (values.cumsum(-1) - values).gather(-1, first)
    kept = (above < p) | (first == 0) | (p >= 1)
    return torch.where(torch.zeros_like(kept).scatter(-1, order, kept), probs, 0.0)


def _draw(
    weights: torch.Tensor, indices: torch.Tensor | None, seed: torch.Tensor, offset: torch.Tensor
) -> torch.Tensor:
    """Draw from the same distribution, by other random numbers; 0 for a row of zeros."""
    rows = weights if indices is None else weights[indices.long()]
    numbers = torch.Generator(rows.device).manual_seed(int(seed + offset))
    uniform = torch.rand((len(rows), 1), generator=numbers, device=rows.device, dtype=torch.float64)
    until = rows.double().cumsum(-1)
    token = (until <= uniform * until[:, -1:]).sum(-1).clamp(max=rows.shape[-1] - 1)
    return token.where(until[:, -1] > 0, 0).int()


def _sampling(
    probs: torch.Tensor,
    indices: torch.Tensor | None,
    deterministic: bool,
    check_nan: bool,
    seed: torch.Tensor,
    offset: torch.Tensor,
    return_valid: bool,
) -> torch.Tensor:
    return _draw(probs, indices, seed, offset)


def _sampling_top_p(
    probs: torch.Tensor,
    top_p: float,
    indices: torch.Tensor | None,
    deterministic: bool,
    check_nan: bool,
    seed: torch.Tensor,
    offset: torch.Tensor,
    return_valid: bool,
) -> torch.Tensor:
    return _draw(_top_p(probs, top_p), indices, seed, offset)


def _sampling_top_k(
    probs: torch.Tensor,
    top_k: int,
    indices: torch.Tensor | None,
    deterministic: bool,
    check_nan: bool,
    seed: torch.Tensor,
    offset: torch.Tensor,
    return_valid: bool,
) -> torch.Tensor:
    return _draw(_top_k(probs, top_k), indices, seed, offset)


def _sampling_min_p(
    probs: torch.Tensor,
    min_p: float,
    indices: torch.Tensor | None,
    deterministic: bool,
    check_nan: bool,
    seed: torch.Tensor,
    offset: torch.Tensor,
    return_valid: bool,
) -> torch.Tensor:
    least = min(min_p, 1.0) * probs.amax(-1, keepdim=True)
    return _draw(torch.where(probs >= least, probs, 0.0), indices, seed, offset)


def _sampling_top_k_top_p(
    probs: torch.Tensor,
    top_k: int,
    top_p: float,
    indices: torch.Tensor | None,
    deterministic: bool,
    check_nan: bool,
    seed: torch.Tensor,
    offset: torch.Tensor,
    return_valid: bool,
) -> torch.Tensor:
    of_k = _top_k(probs, top_k)
    whole = of_k.sum(-1, keepdim=True)
    return _draw(_top_p(torch.where(whole > 0, of_k / whole, 0.0), top_p), indices, seed, offset)


def _init(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    """Make rows from flat to peaked that add up to 1, in random order; a seed of 62 bits."""
    rows, vocab = sizes["rows"], sizes["vocab"]
    logits = torch.randn((rows, vocab), device=device, generator=generator)
    sharpness = torch.arange(rows, device=device) % 4 + 1

    def numbers(most: int, count: int) -> torch.Tensor:
        return torch.randint(most, (count,), device=device, generator=generator)

    return {
        "probs": torch.softmax(logits * sharpness[:, None], -1).to(dtype),
        "indices": numbers(max(rows, 1), rows).int(),
        "seed": numbers(2**62, 1),
        "offset": 4 * numbers(1000, 1),
    }


# What rounding of a sum may change: which of the tokens at the border is kept.
_ROOM = 1e-5


def _judge(weights: torch.Tensor, inputs: Mapping[str, Any], results: Mapping[str, Any]) -> None:
    """Check that each token has a weight, or is 0 where its row has none."""
    rows = weights if inputs["indices"] is None else weights[inputs["indices"].long()]
    token = results["out"].long()
    assert bool(((token >= 0) & (token < rows.shape[-1])).all()), f"out is {token.tolist()}"
    drawn = rows.gather(-1, token[:, None])[:, 0]
    wrong = (drawn <= 0) & ((rows.amax(-1) > 0) | (token != 0))
    assert not bool(wrong.any()), (
        f"out: in the rows {wrong.nonzero().flatten().tolist()} a token is drawn that is not "
        f"kept: {token[wrong].tolist()}"
    )


def _probs(inputs: Mapping[str, Any]) -> torch.Tensor:
    given: torch.Tensor = inputs["probs"]
    return given.double().clamp(min=0).nan_to_num(0.0)


def _judge_all(inputs: Mapping[str, Any], results: Mapping[str, Any]) -> None:
    _judge(_probs(inputs), inputs, results)


def _judge_top_p(inputs: Mapping[str, Any], results: Mapping[str, Any]) -> None:
    _judge(_top_p(_probs(inputs), inputs["top_p"] + _ROOM), inputs, results)


def _judge_top_k(inputs: Mapping[str, Any], results: Mapping[str, Any]) -> None:
    _judge(_top_k(_probs(inputs), inputs["top_k"]), inputs, results)


def _judge_min_p(inputs: Mapping[str, Any], results: Mapping[str, Any]) -> None:
    probs = _probs(inputs)
    least = (1 - _ROOM) * min(inputs["min_p"], 1.0) * probs.amax(-1, keepdim=True)
    _judge(torch.where(probs >= least, probs, 0.0), inputs, results)


def _judge_top_k_top_p(inputs: Mapping[str, Any], results: Mapping[str, Any]) -> None:
    of_k = _top_k(_probs(inputs), inputs["top_k"])
    whole = of_k.sum(-1, keepdim=True)
    of_k = torch.where(whole > 0, of_k / whole, 0.0)
    _judge(_top_p(of_k, inputs["top_p"] + _ROOM), inputs, results)


_AXES: dict[str, Const | Var] = {
    "rows": Var("requests"),
    "vocab": Const("tokens", "v"),
    "one": Const("one number", value=1),
}
_PROBS: dict[str, Tensor | Scalar] = {"probs": Tensor(("rows", "vocab"), doc="of every token")}
_TOP_K: dict[str, Tensor | Scalar] = {"top_k": Scalar("int32", 40, "how many tokens are kept")}
_TOP_P: dict[str, Tensor | Scalar] = {
    "top_p": Scalar("float32", 0.9, "what those that are kept add up to")
}
_MIN_P: dict[str, Tensor | Scalar] = {
    "min_p": Scalar("float32", 0.1, "how likely one is, beside the likeliest")
}
_DRAWS: dict[str, Tensor | Scalar] = {
    "indices": Tensor(("rows",), dtype="int32", optional=True, doc="the row of each token"),
    "deterministic": Scalar("bool", True, "looked at no more"),
    "check_nan": Scalar("bool", False, "whether NaN is refused"),
    "seed": Tensor(("one",), dtype="int64", doc="of the random numbers"),
    "offset": Tensor(("one",), dtype="int64", doc="how many of them were drawn before"),
    "return_valid": Scalar("bool", False, "whether what was drawn is told"),
}
_OUT = {"out": Tensor(("rows",), dtype="int32")}

sampling_from_probs = TraceTemplate(
    axes=_AXES,
    inputs={**_PROBS, **_DRAWS},
    outputs=_OUT,
    reference=_sampling,
    judge=_judge_all,
    constraints=("vocab >= 1",),
    init=_init,
    description="Draw a token from each row of probabilities.",
)
top_p_sampling_from_probs = TraceTemplate(
    axes=_AXES,
    inputs={**_PROBS, **_TOP_P, **_DRAWS},
    outputs=_OUT,
    reference=_sampling_top_p,
    judge=_judge_top_p,
    constraints=("vocab >= 1",),
    init=_init,
    description="Draw a token from the most likely of each row that add up to top_p.",
)
top_k_sampling_from_probs = TraceTemplate(
    axes=_AXES,
    inputs={**_PROBS, **_TOP_K, **_DRAWS},
    outputs=_OUT,
    reference=_sampling_top_k,
    judge=_judge_top_k,
    constraints=("vocab >= 1",),
    init=_init,
    description="Draw a token from the top_k most likely of each row.",
)
min_p_sampling_from_probs = TraceTemplate(
    axes=_AXES,
    inputs={**_PROBS, **_MIN_P, **_DRAWS},
    outputs=_OUT,
    reference=_sampling_min_p,
    judge=_judge_min_p,
    constraints=("vocab >= 1",),
    init=_init,
    description="Draw a token from those that are min_p times as likely as the likeliest.",
)
top_k_top_p_sampling_from_probs = TraceTemplate(
    axes=_AXES,
    inputs={**_PROBS, **_TOP_K, **_TOP_P, **_DRAWS},
    outputs=_OUT,
    reference=_sampling_top_k_top_p,
    judge=_judge_top_k_top_p,
    constraints=("vocab >= 1",),
    init=_init,
    description="Draw a token from what top_p keeps of the top_k most likely of each row.",
)
