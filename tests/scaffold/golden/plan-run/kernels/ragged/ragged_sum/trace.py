"""Trace of RaggedSum."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from fictl.trace import Const, Expr, Tensor, TraceTemplate, Var


def _reference(indptr: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    lengths = indptr.diff()
    segment = torch.arange(len(lengths), device=x.device).repeat_interleave(lengths)
    sums = x.new_zeros(len(lengths), x.shape[1])
    return sums.index_add(0, segment, x[: len(segment)])


def _init(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    """Make segments between random rows; of many segments, some are empty."""
    rows, between = sizes["rows"], sizes["len_indptr"] - 2
    cuts = torch.randint(0, rows + 1, (between,), device=device, generator=generator)
    ends = torch.tensor([0, rows], device=device)
    return {"indptr": torch.cat([cuts, ends]).sort().values.to(torch.int32)}


def _validate(indptr: torch.Tensor, x: torch.Tensor) -> None:
    ends = indptr.tolist()
    if ends[0] != 0 or ends[-1] > len(x):
        raise ValueError(f"indptr goes from {ends[0]} to {ends[-1]}, beyond x")
    if ends != sorted(ends):
        raise ValueError("indptr falls: a segment ends before it starts")


RaggedSum = TraceTemplate(
    axes={
        "len_indptr": Var("segments, and one: where each starts, and the end"),
        "rows": Var("rows of all segments"),
        "dim": Const("values a row", "d"),
        "segments": Expr("len_indptr-1", "sums"),
    },
    inputs={
        "indptr": Tensor(("len_indptr",), dtype="int32"),
        "x": Tensor(("rows", "dim")),
    },
    outputs={"out": Tensor(("segments", "dim"), dtype_from="x")},
    reference=_reference,
    description="Add up the rows of each segment of a ragged batch.",
    constraints=("len_indptr >= 2",),
    # A sum of some thousand numbers may come near 0, and keeps the rounding of what it was before.
    tolerances={"float32": (1e-5, 5e-4), "float16": (2e-3, 1e-3), "bfloat16": (1.6e-2, 1e-3)},
    extremes=("zeros", "small", "nonfinite"),
    init=_init,
    validate=_validate,
)
