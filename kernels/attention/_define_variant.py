"""define_variant: attention with masks and scores of one's own, said in Python or in C++."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from operator import index

import torch

from fictl.op.translate import Type

from ._user_variant import Scalar, UserVariant, of_functions, of_text

__all__ = ["define_variant"]
OFFERED_IN = ("fictl.jit",)

_MODES = ("NONE", "CAUSAL", "CUSTOM")
_INT32 = range(-(1 << 31), 1 << 31)


@dataclass(frozen=True)
class Variant:
    """What define_variant makes: run() computes the attention of one request; the batch wrappers
    take it as `variant=`. `causal` says that keys after a query's own are masked, too.
    """

    user: UserVariant
    scalars: tuple[Scalar, ...]
    causal: bool

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
        """softmax(logits) @ v of one request, or (that, the log2 of the sums of the softmax).

        q: (qo_len, num_qo_heads, head_dim), fp16 or bf16.
        k, v: (kv_len, num_kv_heads, head_dim), of q's dtype or fp8; each serves as many heads of q
            as there are to one of its own.
        out: as q. None allocates it.
        sm_scale: of q . k, before the variant sees it. None is 1 / sqrt(head_dim).
        scalars: the extra numbers of the variant's functions, by their names.
        """
        # Why here: prefill knows variants, and this is one of its callers.
        from .prefill.op import single_prefill_with_kv_cache

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

    def values(self, op: str, given: Mapping[str, object]) -> torch.Tensor | None:
        """The scalars in the order of the C++, in fp64 on the CPU; None where there are none."""
        names = [each.name for each in self.scalars]
        for name in given:
            if name not in names:
                raise TypeError(
                    f"{op}: {self.user.name} has no scalar {name!r}; "
                    f"it has {', '.join(names) or 'none'}"
                )
        numbers = [_number(op, each, given.get(each.name, each.default)) for each in self.scalars]
        return torch.tensor(numbers, dtype=torch.float64) if numbers else None


def define_variant(
    mask_mode: str | None = None,
    mask_fn: Callable[..., object] | None = None,
    logits_fn: Callable[..., object] | None = None,
    output_fn: Callable[..., object] | None = None,
    *,
    text: str | None = None,
    scalars: Sequence[str] = (),
) -> Variant:
    """Attention whose masks, logits or outputs are what these functions say.

    They are read, not called: each is written in C++ and compiled into the kernel, once for the
    same text. What they cannot have is an error with its line.

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
    user, numbers = of_functions(*functions) if text is None else of_text(text, scalars)
    for each in (each.name for each in numbers if each.name in _RUNS):
        raise ValueError(f"define_variant: a scalar cannot be called {each!r}: run() has another")
    return Variant(user, numbers, mode == "CAUSAL")


_RUNS = ("self", "q", "k", "v", "out", "return_lse", "sm_scale")


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
    fails = {"CUSTOM": mask_fn is None, "NONE": mask_fn is not None, "CAUSAL": False}[mode]
    if text is None and fails:
        said = "no 'mask_fn'" if mask_fn is None else "a 'mask_fn'"
        raise ValueError(
            f"define_variant: argument 'mask_mode' is {mode!r}, and there is {said}; "
            + (
                'pass one, or "NONE" or "CAUSAL"'
                if mask_fn is None
                else 'pass "CUSTOM" or "CAUSAL"'
            )
        )


def _number(op: str, scalar: Scalar, value: object) -> float:
    if value is None:
        raise TypeError(
            f"{op}: scalar {scalar.name!r} is missing; pass a {scalar.type.name.lower()}"
        )
    if not isinstance(value, Real):
        raise TypeError(
            f"{op}: scalar {scalar.name!r} is a {type(value).__name__}; it is one number"
        )
    if scalar.type is not Type.INT:
        return float(value)
    try:
        whole = index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(
            f"{op}: scalar {scalar.name!r} is {value}; the variant says that it is an int"
        ) from None
    if whole not in _INT32:
        raise ValueError(f"{op}: scalar {scalar.name!r} is {whole}, which does not fit 32 bits")
    return float(whole)
