"""Trace of SegmentSum."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from fictl.trace import Const, Expr, Tensor, TraceTemplate, Var


def _reference(indptr: torch.Tensor, input: torch.Tensor) -> torch.Tensor:
    lengths = indptr.diff()
    segment = torch.arange(len(lengths), device=input.device).repeat_interleave(lengths)
    return input.new_zeros(len(lengths), input.shape[1]).index_add(
        0, segment, input[: len(segment)]
    )


def _init(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    """Make segments between random rows; of many segments, some are empty."""
    rows, between = sizes["rows"], sizes["len_indptr"] - 2
    cuts = torch.randint(0, rows + 1, (between,), device=device, generator=generator)
    ends = torch.tensor([0, rows], device=device)
    return {"indptr": torch.cat([cuts, ends]).sort().values.to(torch.int32)}


def _validate(indptr: torch.Tensor, input: torch.Tensor) -> None:
    ends = indptr.tolist()
    if ends[0] != 0 or ends[-1] > len(input):
        raise ValueError(f"indptr goes from {ends[0]} to {ends[-1]}, input has {len(input)} rows")
    if ends != sorted(ends):
        raise ValueError("indptr falls: a segment ends before it starts")


SegmentSum = TraceTemplate(
    axes={
        "len_indptr": Var("segments, and one"),
        "rows": Var("rows of all segments"),
        "dim": Const("values a row", "d"),
        "segments": Expr("len_indptr - 1", "sums"),
    },
    inputs={
        "indptr": Tensor(("len_indptr",), dtype="int32", doc="where segments start, and the end"),
        "input": Tensor(("rows", "dim")),
    },
    outputs={"out": Tensor(("segments", "dim"), dtype_from="input")},
    reference=_reference,
    description="Add up the rows of each segment of a ragged batch.",
    constraints=("len_indptr >= 2",),
    # A sum of some thousand numbers may come near 0, and keeps the rounding of what it was before.
    tolerances={"float32": (1e-5, 5e-4), "float16": (2e-3, 1e-3), "bfloat16": (1.6e-2, 1e-3)},
    extremes=("zeros", "small", "nonfinite"),
    init=_init,
    validate=_validate,
)
