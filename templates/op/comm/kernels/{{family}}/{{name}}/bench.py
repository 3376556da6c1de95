{% set x, out = inputs[0].name, outputs[0].name %}
{% set names = dtypes | map(attribute="name") | list %}
{% set usual = "bfloat16" if "bfloat16" in names else names[0] %}
"""Sizes of {{ name }}: a decode step's few rows, and a prefill's many."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.distributed as dist

from fictl.bench import Ranks
from fictl.trace import Case

_SIZES = ((3, 111), (1, 4096), (16, 4096), (128, 4096), (1024, 4096), (4096, 4096))


def cases() -> Iterator[Case]:
    for rows, cols in _SIZES:
        sizes = {"ranks": 1, "{{ roles.rows[0] }}": rows, "{{ roles.cols[0] }}": cols}
        yield Case("{{ name }}", sizes, "{{ usual }}")


def ranks() -> Ranks:
    return Ranks("all_gather", of="{{ out }}", axis="ranks")


def baselines() -> dict[str, Callable[..., Any]]:
    return {"torch": _torch}


def _torch({{ x }}: torch.Tensor) -> Callable[[], torch.Tensor]:
    """Gather by torch.distributed: nccl on GPUs, gloo on the emulated device."""
    if not dist.is_initialized():
        return {{ x }}.clone
    parts = [torch.empty_like({{ x }}) for _ in range(dist.get_world_size())]

    def run() -> torch.Tensor:
        dist.all_gather(parts, {{ x }})
        return torch.cat(parts)

    return run
