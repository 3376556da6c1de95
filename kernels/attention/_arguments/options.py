"""Options of a plan, checked once."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import torch

from .._config import EIGHTHS, FP4, HALVES, OUT_CHUNK
from .._head_dims import fp4_misfit, misfit
from .dtypes import Dtypes
from .numbers import Number, number
from .refusals import unknown

POSITIONS = ("NONE", "ROPE_LLAMA", "ALIBI")


class Heads(NamedTuple):
    """Numbers of heads of queries and of keys, and the sizes of a head.

    `dim` is of queries and keys, `dim_v` of values; 0 is the same.
    """

    queries: int
    keys: int
    dim: int
    dim_v: int = 0


class Scores(NamedTuple):
    """Options that change the scores; None is FlashInfer's default."""

    causal: bool
    window_left: int
    soft_cap: float | None
    sm_scale: float | None
    rope_scale: float | None
    rope_theta: float | None
    positions: str


class Options(NamedTuple):
    """Options of a plan. `fixed_split` is in keys, 0 for none; `soft_cap` is 0 for none."""

    heads: int
    kv_heads: int
    head_dim: int
    head_dim_v: int
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
        """Number of heads of queries that share a head of keys."""
        return self.heads // self.kv_heads

    def changed(self, op: str, **scores: Any) -> Options:
        """Apply what forward() says; causal stays where it says nothing of it."""
        return options(
            op,
            Heads(self.heads, self.kv_heads, self.head_dim, self.head_dim_v),
            Dtypes(self.q, self.kv, self.o),
            fixed_split=self.fixed_split,
            split=self.split,
            **{"causal": self.causal, **scores},
        )


def options(
    op: str,
    heads: Heads,
    dtypes: Dtypes,
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
    narrow_out: bool = False,
) -> Options:
    """Check the options and fill in FlashInfer's defaults; `narrow_out`: results may be of 8 bits."""
    if isinstance(sm_scale, torch.Tensor):
        sm_scale = number(op, "sm_scale", sm_scale)
    scores = Scores(causal, window_left, soft_cap, sm_scale, rope_scale, rope_theta, positions)
    return _checked(op, heads, dtypes, scores, fixed_split, split, narrow_out)


# Why remembered: engines plan the same model for every step.
@lru_cache(maxsize=256)
def _checked(
    op: str,
    heads: Heads,
    dtypes: Dtypes,
    scores: Scores,
    fixed_split: int | None,
    split: bool,
    narrow_out: bool,
) -> Options:
    heads = heads._replace(dim_v=heads.dim_v or heads.dim)
    _check_heads(op, heads)
    check_dtypes(op, dtypes, narrow_out=narrow_out)
    if dtypes.o in EIGHTHS and heads.dim_v % OUT_CHUNK:
        _refuse(op, f"results of 8 bits are of heads of a multiple of {OUT_CHUNK} values")
    if scores.positions not in POSITIONS:
        raise unknown(op, "pos_encoding_mode", scores.positions, POSITIONS)
    rope = scores.positions == "ROPE_LLAMA"
    if dtypes.kv is FP4:
        _refuse(op, fp4_misfit(heads.dim, heads.dim_v, rope=rope))
    check_dims(op, heads.dim, heads.dim_v, kv_bytes=dtypes.kv.itemsize, rope=rope)
    return Options(
        *heads,
        *dtypes,
        causal=bool(scores.causal),
        window_left=max(int(scores.window_left), -1),
        soft_cap=_soft_cap(op, scores.soft_cap),
        sm_scale=_sm_scale(op, scores.sm_scale, heads.dim),
        rope_scale=1.0 if scores.rope_scale is None else float(scores.rope_scale),
        rope_theta=1e4 if scores.rope_theta is None else float(scores.rope_theta),
        positions=scores.positions,
        fixed_split=max(fixed_split or 0, 0),  # FlashInfer's -1 is none, too.
        split=split,
    )


def _sm_scale(op: str, value: float | None, head_dim: int) -> float:
    factor = head_dim**-0.5 if value is None else number(op, "sm_scale", value)
    if not 0.0 < factor < math.inf:
        raise ValueError(f"{op}: argument 'sm_scale' is {factor}; it is a number above 0")
    return factor


def _soft_cap(op: str, value: float | None) -> float:
    cap = 0.0 if value is None else number(op, "logits_soft_cap", value)
    if not 0.0 <= cap < math.inf:
        raise ValueError(
            f"{op}: argument 'logits_soft_cap' is {cap}; it is a number above 0, or 0 for none"
        )
    return cap


def _check_heads(op: str, heads: Heads) -> None:
    if heads.keys < 1 or heads.queries < 1 or heads.queries % heads.keys:
        raise ValueError(
            f"{op}: {heads.queries} heads of queries to {heads.keys} of keys; the first is a "
            "multiple of the second"
        )


def check_dims(op: str, dim: int, dim_v: int, *, kv_bytes: int, rope: bool = False) -> None:
    """Refuse sizes of heads that no kernel takes."""
    _refuse(op, misfit(dim, dim_v, kv_bytes=kv_bytes, rope=rope))


def _refuse(op: str, reason: str) -> None:
    """Raise NotImplementedError for a reason, if there is one."""
    if reason:
        raise NotImplementedError(f"{op}: {reason}")


def check_dtypes(op: str, dtypes: Dtypes, *, narrow_out: bool = False) -> None:
    """Refuse dtypes that no kernel takes; with `narrow_out` results may be of 8 bits."""
    q, kv, o = dtypes
    o_fits = o in HALVES or (narrow_out and o in EIGHTHS)
    if q in EIGHTHS:
        if kv != q:
            raise _dtype(op, "k and v", kv, f"{_plain(q)} as q")
        if not o_fits:
            raise _dtype(op, "out", o, "float16 or bfloat16, which plans take as o_data_type")
        return
    if q not in HALVES:
        raise _dtype(op, "q", q, "float16, bfloat16, float8_e4m3fn or float8_e5m2")
    if kv not in (q, *EIGHTHS, FP4):
        accepted = f"{_plain(q)} as q, float8_e4m3fn, float8_e5m2, or uint8 for nvfp4"
        raise _dtype(op, "k and v", kv, accepted)
    if not o_fits:
        raise _dtype(op, "out", o, "float16 or bfloat16")


def _dtype(op: str, what: str, dtype: torch.dtype, accepted: str) -> TypeError:
    return TypeError(f"{op}: {what} of {_plain(dtype)}; accepted: {accepted}")


def _plain(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
