"""JIT generator and AOT entry of {{ name }}: a module for each dtype."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from fictl.jit import JitSpec
from fictl.op import module_spec

{% set pairs = [] %}
{% for dtype in dtypes %}
{% set _ = pairs.append("torch." ~ dtype.name ~ ': "' ~ dtype.cpp ~ '"') %}
{% endfor %}
{{ py("_CPP = {", pairs, "}") }}


def module(dtype: torch.dtype) -> JitSpec:
    if dtype not in _CPP:
        message = "{{ name }}: argument '{{ inputs[0].name }}' has dtype"
        raise TypeError(f"{message} {dtype}; accepted: {', '.join(map(str, _CPP))}")
    return module_spec(__file__, {"dtype": _CPP[dtype]})


def aot() -> Iterator[JitSpec]:
    yield from map(module, _CPP)
