"""define_variant: attention with masks and scores of one's own, written in Python or in C++."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from ._variant.from_functions import from_functions
from ._variant.from_text import from_text
from ._variant.variant import Variant
from .single.op import single_prefill_with_kv_cache

__all__ = ["define_variant"]
OFFERED_IN = ("fictl.jit",)

_MODES = ("NONE", "CAUSAL", "CUSTOM")
# Parameters of run(), which no scalar may be called.
_RUN_PARAMETERS = ("self", "q", "k", "v", "out", "return_lse", "sm_scale")


class DefinedVariant(Variant):
    """A variant that runs: run() is for one request; the batch wrappers take it as `variant=`."""

    def run(
        self,
        q: torch.Tensor,
        k: torch.Tensor,
        v: torch.Tensor,
        *,
        out: torch.Tensor | None = None,
        return_lse: bool = False,
        sm_scale: float | None = None,
        **scalars: float,
    ) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
        """Compute softmax(logits) @ v of one request, or (that, lse): lse is to base 2.

        q: (qo_len, num_qo_heads, head_dim), fp16 or bf16.
        k, v: (kv_len, num_kv_heads, head_dim), of q's dtype or fp8; num_qo_heads is a multiple of
            num_kv_heads.
        out: like q. None allocates it.
        sm_scale: factor of q . k, before the variant sees it. None is 1 / sqrt(head_dim).
        scalars: the extra numbers of the variant's functions, by their names.
        """
        return single_prefill_with_kv_cache(
            q,
            k,
            v,
            causal=self.causal,
            sm_scale=sm_scale,
            return_lse=return_lse,
            out=out,
            variant=self,
            scalars=scalars,
        )


def define_variant(
    mask_mode: str | None = None,
    mask_fn: Callable[..., object] | None = None,
    logits_fn: Callable[..., object] | None = None,
    output_fn: Callable[..., object] | None = None,
    *,
    text: str | None = None,
    scalars: Sequence[str] = (),
) -> DefinedVariant:
    """Define attention whose masks, logits or outputs are what these functions say.

    The functions are read, not called. They are translated to C++ and compiled into the kernel, once
    for the same text. What cannot be translated is an error with its line.

    mask_mode: "CUSTOM": keys that mask_fn says, "CAUSAL": keys up to the query's own, and of these
        mask_fn's where there is one, "NONE": all keys. None is "CUSTOM" if there is a mask_fn.
    mask_fn: mask_fn(q_idx, kv_idx, …) -> whether the query sees the key.
    logits_fn: logits_fn(logit, q_idx, kv_idx, head, …) -> what takes the place of the logit, which
        is q . k with its scale.
    output_fn: output_fn(value, q_idx, dim, head, …) -> what takes the place of an element of out.
    text: C++ in place of functions: a struct that derives from fictl::attention::Plain, see
        fictl/attention/variant.cuh.
    scalars: the names of its extra scalars, which its `of` gets in this order.

    Parameters are known by their names: q_idx and kv_idx, the numbers of the query and of the key
    in their request, head, kv_head, request, q_len and kv_len. All others are extra scalars of
    run(): floats, or what an annotation or a default says.
    """
    functions = (mask_fn, logits_fn, output_fn)
    mode = ("CUSTOM" if mask_fn or text else "NONE") if mask_mode is None else mask_mode
    _check(mode, mask_fn, any(functions), text, scalars)
    user, numbers = from_functions(*functions) if text is None else from_text(text, scalars)
    for name in (number.name for number in numbers if number.name in _RUN_PARAMETERS):
        raise ValueError(f"define_variant: a scalar cannot be called {name!r}: run() has another")
    return DefinedVariant(user, numbers, mode == "CAUSAL")


def _check(
    mode: str,
    mask_fn: object,
    functions: bool,
    text: str | None,
    scalars: Sequence[str],
) -> None:
    if mode not in _MODES:
        raise ValueError(
            f"define_variant: argument 'mask_mode' is {mode!r}; it is one of {', '.join(_MODES)}"
        )
    if text is not None and functions:
        raise ValueError("define_variant: argument 'text' is given, and functions are; pass one")
    if text is None and scalars:
        raise ValueError(
            "define_variant: argument 'scalars' is given without 'text'; functions name theirs as "
            "parameters"
        )
    if text is None and not functions:
        raise ValueError("define_variant: there is no mask_fn, logits_fn, output_fn or text")
    if text is None:
        _check_mode(mode, mask_fn)


def _check_mode(mode: str, mask_fn: object) -> None:
    if not {"CUSTOM": mask_fn is None, "NONE": mask_fn is not None, "CAUSAL": False}[mode]:
        return
    there = "no 'mask_fn'" if mask_fn is None else "a 'mask_fn'"
    advice = 'one, or "NONE" or "CAUSAL"' if mask_fn is None else '"CUSTOM" or "CAUSAL"'
    raise ValueError(
        f"define_variant: argument 'mask_mode' is {mode!r}, and there is {there}; pass {advice}"
    )
