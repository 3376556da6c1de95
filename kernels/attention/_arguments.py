"""What attention's functions and wrappers are given besides tensors of queries and keys, checked."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import torch

from ._config import HEAD_DIMS, KEYS, QUERIES

Dtype = str | torch.dtype
Number = float | torch.Tensor

LAYOUTS = ("NHD", "HND")
POSITIONS = ("NONE", "ROPE_LLAMA", "ALIBI")
BACKENDS = ("auto", "fa2")
OTHER_KERNELS = "it makes kernels of another library; pass variant=define_variant(...)"
_HALVES = tuple(QUERIES)
_EIGHTHS = tuple(dtype for dtype in KEYS if dtype not in QUERIES)


class Options(NamedTuple):
    """What plan() decides. `fixed_split` is in keys, 0 for none; `soft_cap` 0 for none."""

    heads: int
    kv_heads: int
    head_dim: int
    q: torch.dtype
    kv: torch.dtype
    o: torch.dtype
    causal: bool
    window_left: int
    soft_cap: float
    sm_scale: float
    rope_scale: float
    rope_theta: float
    positions: str
    fixed_split: int = 0
    split: bool = True

    @property
    def group(self) -> int:
        """Heads of queries to one of the keys."""
        return self.heads // self.kv_heads

    def said_again(self, op: str, **said: Any) -> Options:
        """These, with what forward() says of them."""
        return options(
            op,
            self.heads,
            self.kv_heads,
            self.head_dim,
            self.q,
            self.kv,
            self.o,
            fixed_split=self.fixed_split,
            split=self.split,
            **{"causal": self.causal, **said},
        )


def options(
    op: str,
    heads: int,
    kv_heads: int,
    head_dim: int,
    q: torch.dtype,
    kv: torch.dtype,
    o: torch.dtype,
    *,
    causal: bool,
    window_left: int,
    soft_cap: float | None,
    sm_scale: Number | None,
    rope_scale: float | None,
    rope_theta: float | None,
    positions: str,
    fixed_split: int | None = None,
    split: bool = True,
) -> Options:
    """With FlashInfer's defaults, or the error that says what is wrong."""
    if isinstance(sm_scale, torch.Tensor):
        sm_scale = number(op, "sm_scale", sm_scale)
    return _options(
        op,
        heads,
        kv_heads,
        head_dim,
        q,
        kv,
        o,
        causal,
        window_left,
        soft_cap,
        sm_scale,
        rope_scale,
        rope_theta,
        positions,
        fixed_split,
        split,
    )


# Why remembered: engines plan the same model for every step.
@lru_cache(maxsize=256)
def _options(
    op: str,
    heads: int,
    kv_heads: int,
    head_dim: int,
    q: torch.dtype,
    kv: torch.dtype,
    o: torch.dtype,
    causal: bool,
    window_left: int,
    soft_cap: float | None,
    sm_scale: float | None,
    rope_scale: float | None,
    rope_theta: float | None,
    positions: str,
    fixed_split: int | None,
    split: bool,
) -> Options:
    _check_heads(op, heads, kv_heads, head_dim)
    _check_dtypes(op, q, kv, o)
    if positions not in POSITIONS:
        raise _unknown(op, "pos_encoding_mode", positions, POSITIONS)
    factor = head_dim**-0.5 if sm_scale is None else number(op, "sm_scale", sm_scale)
    if not 0.0 < factor < math.inf:
        raise ValueError(f"{op}: argument 'sm_scale' is {factor}; it is a number above 0")
    cap = 0.0 if soft_cap is None else number(op, "logits_soft_cap", soft_cap)
    if not 0.0 <= cap < math.inf:
        raise ValueError(
            f"{op}: argument 'logits_soft_cap' is {cap}; it is a number above 0, or 0 for none"
        )
    return Options(
        heads,
        kv_heads,
        head_dim,
        q,
        kv,
        o,
        bool(causal),
        max(int(window_left), -1),
        cap,
        factor,
        1.0 if rope_scale is None else float(rope_scale),
        1e4 if rope_theta is None else float(rope_theta),
        positions,
        max(fixed_split or 0, 0),
        split,  # FlashInfer's -1 is none, too.
    )


def _check_heads(op: str, heads: int, kv_heads: int, head_dim: int) -> None:
    if kv_heads < 1 or heads < 1 or heads % kv_heads:
        raise ValueError(
            f"{op}: {heads} heads of queries to {kv_heads} of keys; the first is a multiple of the "
            "second"
        )
    if head_dim not in HEAD_DIMS:
        raise NotImplementedError(
            f"{op}: heads of {head_dim} values; there are kernels for "
            f"{', '.join(map(str, HEAD_DIMS))}"
        )


def _check_dtypes(op: str, q: torch.dtype, kv: torch.dtype, o: torch.dtype) -> None:
    if q not in _HALVES:
        raise _dtype(op, "q", q, "float16 or bfloat16")
    if kv not in (q, *_EIGHTHS):
        raise _dtype(op, "k and v", kv, f"{_plain(q)} as q, float8_e4m3fn or float8_e5m2")
    if o not in _HALVES:
        raise _dtype(op, "out", o, "float16 or bfloat16")


def _dtype(op: str, what: str, found: torch.dtype, accepted: str) -> TypeError:
    return TypeError(f"{op}: {what} of {_plain(found)}; accepted: {accepted}")


def _plain(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def dtype_of(op: str, name: str, given: Dtype) -> torch.dtype:
    """By its name or itself."""
    found = getattr(torch, given, None) if isinstance(given, str) else given
    if isinstance(found, torch.dtype):
        return found
    raise TypeError(f"{op}: argument '{name}' is {given!r}; pass a torch.dtype or its name")


def dtypes_of(
    op: str,
    q: Dtype,
    kv: Dtype | None,
    o: Dtype | None,
) -> tuple[torch.dtype, torch.dtype, torch.dtype]:
    """Of queries, keys and outputs; what is not said is as the queries."""
    query = dtype_of(op, "q_data_type", q)
    keys = query if kv is None else dtype_of(op, "kv_data_type", kv)
    return query, keys, query if o is None else dtype_of(op, "o_data_type", o)


def is_hnd(op: str, kv_layout: str) -> bool:
    if kv_layout not in LAYOUTS:
        raise _unknown(op, "kv_layout", kv_layout, LAYOUTS)
    return kv_layout == "HND"


def check_backend(op: str, backend: str) -> None:
    if backend not in BACKENDS:
        raise NotImplementedError(
            f"{op}: argument 'backend' is {backend!r}, which is another library's; there are "
            f"{' and '.join(map(repr, BACKENDS))}, both fictl's own kernels"
        )


def refuse_given(op: str, why: str, **given: object) -> None:
    """Arguments of FlashInfer's for what is not here: only their defaults are taken."""
    for name, value in given.items():
        if isinstance(value, torch.Tensor) or (value is not None and value != 0):
            raise NotImplementedError(f"{op}: argument '{name}' is given; {why}")


def number(op: str, name: str, value: Number) -> float:
    """A tensor has one number, which is waited for if it is on a GPU."""
    if isinstance(value, torch.Tensor):
        if value.numel() != 1:
            raise ValueError(
                f"{op}: argument '{name}' has shape {tuple(value.shape)}; pass a number, or a "
                "tensor of one"
            )
        return float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{op}: argument '{name}' is {value!r}; pass a number")
    return float(value)


def scale(op: str, **given: Number | None) -> float:
    """The product of those that are given."""
    product = 1.0
    for name, value in given.items():
        if value is not None:
            product *= number(op, name, value)
    return product


def _unknown(op: str, name: str, value: object, known: tuple[str, ...]) -> ValueError:
    return ValueError(f"{op}: argument '{name}' is {value!r}; it is one of {', '.join(known)}")
