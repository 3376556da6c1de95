"""{{ name }}: {{ outputs[0].name }} = {{ expression }}, element by element, in fp32 and rounded once.

Traffic: every element is read once and written once. Nothing is reused, so the limit is the
memory's bandwidth.

Tiling: a block of 256 threads takes a part of one row, a vector of 16 bytes of each input a thread,
and there are as many blocks as parts. With 40 registers a thread, 1536 threads per SM keep 24 KiB of
each input in flight, where about 25 KiB cover the latency of HBM. A dense tensor is one row. A thread
at the end of a row goes element by element.

Compiled with the op, for each of its architectures, and never imported when the op runs. Arguments
that variants() marks with `:16` are multiples of 16 (pointers: of 16 bytes), which vectors need;
another variant serves calls where they are not, with the elements of a block spread over its threads.
"""

# mypy: ignore-errors
# Why: what CuTe DSL makes of these functions is not what Python would, and it reads annotations.

from collections.abc import Iterator
from typing import Any

import cutlass
{% set numbers = ["Constexpr", "Float32", "Int32", "Int64"] %}
{% for scalar in scalars if scalar.type == "bool" and "Boolean" not in numbers %}
{% set _ = numbers.append("Boolean") %}
{% endfor %}
from cutlass import {{ numbers | sort | join(", ") }}, cute
{% set computed = expression.cute() %}
{% set functions = {
  "sigmoid": ("x: Any", "1.0 / (1.0 + cute.math.exp(-x))"),
  "silu": ("x: Any", "x / (1.0 + cute.math.exp(-x))"),
  "relu": ("x: Any", "cute.where(x > 0.0, x, 0.0)"),
  "gelu": ("x: Any", "0.5 * x * (1.0 + cute.math.erf(x * 0.7071067811865476))"),
  "gelu_tanh": ("x: Any", "x / (1.0 + cute.math.exp(-1.5957691216057308 * (x + 0.044715 * x * x * x)))"),
  "softplus": ("x: Any", "cute.where(x > 0.0, x, 0.0) + cute.math.log(1.0 + cute.math.exp(-cute.math.absf(x)))"),
  "min": ("x: Any, y: Any", "cute.where(x < y, x, y)"),
  "max": ("x: Any, y: Any", "cute.where(x > y, x, y)"),
} %}
{% set out = outputs[0].name %}
{% set tensor_names = tensors | map(attribute="name") | list %}
{% set scalar_names = scalars | map(attribute="name") | list %}
{% set typed, pitches, vectors, elements, spread = [], [], [], [], [] %}
{% for tensor in tensor_names %}
{% set _ = typed.append(tensor ~ ": cute.Pointer") %}
{% set _ = pitches.append(tensor ~ "_pitch: Int64") %}
{% set _ = vectors.append(tensor ~ " + cute.assume(row * " ~ tensor ~ "_pitch + col, divby=width)") %}
{% set _ = elements.append(tensor ~ " + (row * " ~ tensor ~ "_pitch + at)") %}
{% endfor %}
{% for scalar in scalars %}
{% set _ = typed.append(scalar.name ~ (": Boolean" if scalar.type == "bool" else ": Float32")) %}
{% endfor %}
{% for function, (parameters, value) in functions.items() if "_" ~ function ~ "(" in computed %}


def _{{ function }}({{ parameters }}) -> Any:
{{ py_value("    return ", value) }}
{% endfor %}


@cute.jit
{{ py("def _part(", typed + ["width: Constexpr"], ") -> None:") }}
    """Compute `width` elements from pointers, as vectors."""
    layout = cute.make_layout(width)
{% for tensor in inputs %}
    {{ tensor.name }} = cute.make_tensor({{ tensor.name }}, layout).load().to(Float32)
{% endfor %}
{% for scalar in scalars %}
{{ py("    " ~ scalar.name ~ " = cute.full_like(", [inputs[0].name, scalar.name] + (["Boolean"] if scalar.type == "bool" else []), ")") }}
{% endfor %}
{{ py_value("    computed = ", computed) }}
{{ py("    cute.make_tensor(" ~ out ~ ", layout).store(", ["computed.to(" ~ out ~ ".dtype)"], ")") }}


@cute.kernel
{{ py("def " ~ name ~ "(", typed + ["cols: Int64"] + pitches + ["block: Constexpr"], ") -> None:") }}
    thread, _, _ = cute.arch.thread_idx()
    program, _, _ = cute.arch.block_idx()
    blocks = Int32((cols + block - 1) // block)
    row = program // blocks
    first = Int64(program - row * blocks) * block
    row = Int64(row)
    width = cutlass.const_expr(128 // {{ inputs[0].name }}.dtype.width)
    if cutlass.const_expr({{ inputs[0].name }}.alignment % 16 == 0):
        col = first + thread * width
        if col + width <= cols:
{{ py("            _part(", vectors + scalar_names + ["width"], ")") }}
        else:
            for at in range(col, cols):
{{ py("                _part(", elements + scalar_names + ["1"], ")") }}
    else:
        for step in cutlass.range_constexpr(width):
            at = first + thread + step * (block // width)
            if at < cols:
{{ py("                _part(", elements + scalar_names + ["1"], ")") }}


def variants() -> Iterator[tuple[Any, dict[str, Any]]]:
    """Yield what is compiled: a kernel, and by name its types, constants, and threads of a block."""
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
                "threads": 256,
            },
        )
