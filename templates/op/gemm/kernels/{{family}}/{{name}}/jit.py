"""JIT generator and AOT entry of {{ name }}: a module for each dtype and backend."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product, starmap

import torch

from fictl.jit import JitSpec
from fictl.op import module_spec

{% set pairs = [] %}
{% for dtype in dtypes %}
{% set _ = pairs.append("torch." ~ dtype.name ~ ': "' ~ dtype.cpp ~ '"') %}
{% endfor %}
{{ py("_CPP = {", pairs, "}") }}
_BACKENDS = ("sm90", "sm80")


def module(dtype: torch.dtype, backend: str) -> JitSpec:
    if dtype not in _CPP:
        message = "{{ name }}: argument '{{ inputs[0].name }}' has dtype"
        raise TypeError(f"{message} {dtype}; accepted: {', '.join(map(str, _CPP))}")
    return module_spec(__file__, {"dtype": _CPP[dtype]}, backend=backend)


def aot() -> Iterator[JitSpec]:
    yield from starmap(module, product(_CPP, _BACKENDS))
