"""{{ name }}: {{ outputs[0].name }} = {{ expression }}, element by element, in fp32 and rounded once.

Traffic: every element is read once and written once. Nothing is reused, so the limit is the
memory's bandwidth.

Tiling: a program of 8 warps takes a block of one row, 16 bytes of each input a thread, and there
are as many programs as blocks. 2048 threads per SM keep 32 KiB in flight, where about 25 KiB cover
the latency of HBM. A dense tensor is one row. Only the last block of a row is masked: with a mask
that may end anywhere, Triton would load every element by itself.

Compiled with the op, for each of its architectures, and never imported when the op runs. Arguments
that variants() marks with `:16` are multiples of 16 (pointers: of 16 bytes), which vectors need;
another variant serves calls where they are not.
"""

# mypy: ignore-errors
# Why: what Triton makes of these functions is not what Python would.

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import triton
import triton.language as tl
{% set computed = expression.triton() %}
{% if "libdevice." in computed %}
from triton.language.extra import libdevice
{% endif %}
{% set functions = {
  "gelu": "0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476))",
  "gelu_tanh": "x * tl.sigmoid(1.5957691216057308 * (x + 0.044715 * x * x * x))",
  "silu": "x * tl.sigmoid(x)",
  "softplus": "tl.maximum(x, 0.0) + tl.log(1.0 + tl.exp(-tl.abs(x)))",
} %}

{% set out = outputs[0].name %}
{% set tensor_names = tensors | map(attribute="name") | list %}
{% set scalar_names = scalars | map(attribute="name") | list %}
{% set typed, pointers, pitches = [], [], [] %}
{% for tensor in tensor_names %}
{% set _ = typed.append(tensor ~ ": tl.tensor") %}
{% set _ = pointers.append(tensor ~ " + lane") %}
{% set _ = pitches.append(tensor ~ "_pitch: tl.tensor") %}
{% endfor %}
{% for scalar in scalar_names %}
{% set _ = typed.append(scalar ~ ": tl.tensor") %}
{% endfor %}
{% for function, value in functions.items() if "_" ~ function ~ "(" in computed %}

@triton.jit
def _{{ function }}(x: tl.tensor) -> tl.tensor:
    return {{ value }}

{% endfor %}

@triton.jit
{{ py("def _block(", typed + ["inside: tl.tensor | None"], ") -> None:") }}
    """Compute a block from pointers; `inside` masks it, None is all of it."""
{% for tensor in inputs %}
    {{ tensor.name }} = tl.load({{ tensor.name }}, mask=inside).to(tl.float32)
{% endfor %}
{{ py_value("    computed = ", computed) }}
    tl.store({{ out }}, computed, mask=inside)


@triton.jit
{{ py("def " ~ name ~ "(", typed + ["cols: tl.tensor"] + pitches + ["block: tl.constexpr"], ") -> None:") }}
    blocks = tl.cdiv(cols, block).to(tl.int32)
    this_row = tl.program_id(0) // blocks
    first_col = (tl.program_id(0) - this_row * blocks).to(tl.int64) * block
{% for tensor in tensor_names %}
    {{ tensor }} += this_row.to(tl.int64) * {{ tensor }}_pitch + first_col
{% endfor %}
    lane = tl.arange(0, block)
    if first_col + block <= cols:
{{ py("        _block(", pointers + scalar_names + ["None"], ")") }}
    else:
{{ py("        _block(", pointers + scalar_names + ["lane < cols - first_col"], ")") }}


def variants() -> Iterator[tuple[Any, dict[str, Any]]]:
    """Yield what is compiled: a kernel, and by name its types, constants and options of Triton."""
{% set names = {"float16": "fp16", "bfloat16": "bf16", "float32": "fp32"} %}
{% set sizes = {"float16": 2, "bfloat16": 2, "float32": 4} %}
{% set pairs = [] %}
{% for dtype in dtypes %}
{% set _ = pairs.append('("' ~ names[dtype.name] ~ '", ' ~ sizes[dtype.name] ~ ")") %}
{% endfor %}
    for dtype, size in ({{ pairs | join(", ") }}{{ "," if pairs | length == 1 }}):
        yield (
            {{ name }},
            {
{% for tensor in tensor_names %}
                "{{ tensor }}": f"*{dtype}:16",
{% endfor %}
{% for scalar in scalars %}
                "{{ scalar.name }}": "{{ "i1" if scalar.type == "bool" else "fp32" }}",
{% endfor %}
                "cols": "i64",
{% for tensor in tensor_names %}
                "{{ tensor }}_pitch": "i64:16",
{% endfor %}
                "block": 4096 // size,
                "num_warps": 8,
            },
        )
