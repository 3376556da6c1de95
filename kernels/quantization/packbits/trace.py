"""Traces of packbits and segment_packbits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from fictl.trace import Expr, Tensor, TraceTemplate, Var


def _packed(x: torch.Tensor) -> torch.Tensor:
    eights = torch.nn.functional.pad(x.int(), (0, -len(x) % 8)).view(-1, 8)
    return (eights << torch.arange(7, -1, -1, device=x.device)).sum(dim=1)


def _packed_segments(
    x: torch.Tensor, indptr: torch.Tensor, out: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    lengths = indptr.diff().long()
    ends = torch.cat([indptr.new_zeros(1), ((lengths + 7) // 8).cumsum(0)])
    segment = torch.arange(len(lengths), device=x.device).repeat_interleave(lengths)
    place = torch.arange(len(segment), device=x.device) - (indptr - indptr[0])[segment]
    bits = x[int(indptr[0]) : int(indptr[-1])].int() << (7 - place % 8)
    packed = torch.zeros(int(ends[-1]), dtype=bits.dtype, device=x.device)
    packed.index_add_(0, ends[segment] + place // 8, bits)
    return torch.cat([packed.to(out.dtype), out[len(packed) :]]), ends


def _coins(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    """Make bools, true half of the time."""
    coins = torch.randint(0, 2, (sizes["elements"],), device=device, generator=generator)
    return {"x": coins.to(dtype)}


def _segments(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    """Make segments between random elements; of many segments, some are empty."""
    elements, between = sizes["elements"], sizes["len_indptr"] - 2
    cuts = torch.randint(0, elements + 1, (between,), device=device, generator=generator)
    ends = torch.tensor([0, elements], device=device)
    indptr = torch.cat([cuts, ends]).sort().values.to(torch.int32)
    return {**_coins(sizes, dtype, device, generator), "indptr": indptr}


def _validate(x: torch.Tensor, indptr: torch.Tensor, out: torch.Tensor) -> None:
    ends = indptr.tolist()
    if ends[0] < 0 or ends[-1] > len(x):
        raise ValueError(f"indptr goes from {ends[0]} to {ends[-1]}, x has {len(x)} elements")
    if ends != sorted(ends):
        raise ValueError("indptr falls: a segment ends before it starts")


def _segment_bytes(sizes: Mapping[str, int], inputs: Mapping[str, Any]) -> int:
    """Count the bytes; out is written, not read."""
    return sizes["elements"] + sizes["packed"] + 8 * sizes["len_indptr"]


packbits = TraceTemplate(
    axes={
        "elements": Var("bools"),
        "packed": Expr("(elements + 7) // 8", "bytes"),
    },
    inputs={"x": Tensor(("elements",))},
    outputs={"out": Tensor(("packed",), dtype="uint8")},
    reference=_packed,
    init=_coins,
    description="Pack eight bools in a byte, the first one highest.",
)

segment_packbits = TraceTemplate(
    axes={
        "elements": Var("bools of all segments"),
        "len_indptr": Var("segments, and one"),
        "packed": Var("bytes that there is room for"),
    },
    inputs={
        "x": Tensor(("elements",)),
        "indptr": Tensor(("len_indptr",), dtype="int32", doc="where segments start, and the end"),
        "out": Tensor(("packed",), dtype="uint8", doc="takes the bytes; those beyond stay"),
    },
    outputs={
        "out": Tensor(("packed",), dtype="uint8"),
        "out_indptr": Tensor(("len_indptr",), dtype="int32", doc="where their bytes start"),
    },
    reference=_packed_segments,
    constraints=("len_indptr >= 2", "packed >= (elements + 7 * (len_indptr - 1)) // 8"),
    init=_segments,
    validate=_validate,
    bytes=_segment_bytes,
    description="Pack eight bools of a segment in a byte, the first one highest.",
)
