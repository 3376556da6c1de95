{% set a, b, out = inputs[0].name, inputs[1].name, outputs[0].name %}
{% set m, k = inputs[0].axis_names %}
{% set n = inputs[1].axis_names[0] %}
{% set narrowed = ['archs="' ~ archs ~ '"'] if archs != ">=8.0" else [] %}
"""{{ name }}: multiply a matrix by a transposed one."""

from __future__ import annotations

import torch
from torch.compiler import is_dynamo_compiling

from fictl.op import KernelModule, op

from .jit import module

kernel = KernelModule(module)

_CHUNK = 8  # elements: copies to shared memory move 16 bytes


def _has_products({{ a }}: torch.Tensor) -> bool | str:
    return {{ a }}.shape[-1] > 0 or "{{ k }} is 0"


{{ py_literal("@op(", narrowed + ['backends={"sm90": "9.0a", "sm80": ">=8.0"}', 'checks={"sm90": _has_products}', 'dtypes="' ~ dtypes | map(attribute="short") | join(" ") ~ '"', 'devices="' ~ devices ~ '"', 'mutates="' ~ out ~ '"'], ")") }}
{{ py("def " ~ name ~ "(", spelled.parameters + ['backend: str = "auto"'], ") -> torch.Tensor:") }}
    """Compute {{ a }} @ {{ b }}.T, summed in fp32 and rounded once.

    {{ a }}: ({{ m }}, {{ k }}); rows at multiples of 16 bytes. Any other strides cost a copy.
    {{ b }}: ({{ n }}, {{ k }}), like the weight of torch.nn.Linear; strides as {{ a }}'s.
    {{ out }}: ({{ m }}, {{ n }}), last dimension contiguous, any row stride; not in {{ a }} or {{ b }}. None allocates it.
    backend: "sm90" is for Hopper: bulk copies and wgmma; "sm80" runs on mma.sync.
    """
    if {{ out }} is None:
        shape = len({{ a }}), len({{ b }})
        {{ out }} = {{ a }}.new_empty(shape)
    run = kernel[{{ a }}.dtype, backend]
    run.{{ name }}({{ out }}, _rows({{ a }}), _rows({{ b }}))
    return {{ out }}


def _rows(x: torch.Tensor) -> torch.Tensor:
    """Return x, or a copy of it whose rows begin at multiples of 16 bytes."""
    if x.dim() != 2 or _addressable(x):
        return x
    rows, columns = x.shape
    padded = x.new_empty((rows, -(-columns // _CHUNK) * _CHUNK))
    return padded[:, :columns].copy_(x)


def _addressable(x: torch.Tensor) -> bool:
    """Tell whether 16-byte copies can read the rows; what torch.compile traces has no address."""
    starts = is_dynamo_compiling() or x.data_ptr() % 16 == 0
    pitch = x.stride(0) if len(x) > 1 else _CHUNK
    return starts and x.stride(1) == 1 and pitch > 0 and pitch % _CHUNK == 0
