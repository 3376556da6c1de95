{% set out, x, offsets = outputs[0].name, inputs[1].name, inputs[0].name %}
{% set ends, rows, dim, segments = roles.len_indptr[0], roles.rows[0], roles.dim[0], roles.segments[0] %}
"""Trace of {{ title }}."""

from __future__ import annotations

from collections.abc import Mapping

{{ import_block(["import torch"] + (reference.imports | list if reference else [])) }}

from fictl.trace import Const, Expr, Tensor, TraceTemplate, Var


{% if reference %}
{{ reference.source }}
{% else %}
{{ py("def _reference(", spelled.reference_parameters, ") -> torch.Tensor:") }}
    lengths = {{ offsets }}.diff()
    segment = torch.arange(len(lengths), device={{ x }}.device).repeat_interleave(lengths)
    sums = {{ x }}.new_zeros(len(lengths), {{ x }}.shape[1])
    return sums.index_add(0, segment, {{ x }}[: len(segment)])
{% endif %}


def _init(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    """Make segments between random rows; of many segments, some are empty."""
    rows, between = sizes["{{ rows }}"], sizes["{{ ends }}"] - 2
    cuts = torch.randint(0, rows + 1, (between,), device=device, generator=generator)
    ends = torch.tensor([0, rows], device=device)
    return {"{{ offsets }}": torch.cat([cuts, ends]).sort().values.to(torch.int32)}


{{ py("def _validate(", spelled.reference_parameters, ") -> None:") }}
    ends = {{ offsets }}.tolist()
    if ends[0] != 0 or ends[-1] > len({{ x }}):
        raise ValueError(f"{{ offsets }} goes from {ends[0]} to {ends[-1]}, beyond {{ x }}")
    if ends != sorted(ends):
        raise ValueError("{{ offsets }} falls: a segment ends before it starts")


{{ title }} = TraceTemplate(
    axes={
        "{{ ends }}": Var("segments, and one: where each starts, and the end"),
        "{{ rows }}": Var("rows of all segments"),
{% set size = (axes | selectattr("name", "equalto", dim) | first).size %}
        "{{ dim }}": Const("values a row", "d"{{ ", " ~ size if size }}),
        "{{ segments }}": Expr("{{ (axes | selectattr("name", "equalto", segments) | first).text }}", "sums"),
    },
    inputs={
        "{{ offsets }}": Tensor(("{{ ends }}",), dtype="int32"),
        "{{ x }}": Tensor(("{{ rows }}", "{{ dim }}")),
    },
    outputs={"{{ out }}": Tensor(("{{ segments }}", "{{ dim }}"), dtype_from="{{ x }}")},
    reference=_reference,
    description="Add up the rows of each segment of a ragged batch.",
    constraints=("{{ ends }} >= 2",),
    # A sum of some thousand numbers may come near 0, and keeps the rounding of what it was before.
    tolerances={"float32": (1e-5, 5e-4), "float16": (2e-3, 1e-3), "bfloat16": (1.6e-2, 1e-3)},
    extremes=("zeros", "small", "nonfinite"),
    init=_init,
    validate=_validate,
)
