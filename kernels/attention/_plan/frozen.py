"""Values that captured CUDA graphs hold, which later plans may not change."""

from __future__ import annotations

from collections.abc import Mapping

from .._arguments.options import Options
from .._config import Config
from .lengths import Lengths
from .work_list import Tiling


def frozen_values(
    op: str, first: Mapping[str, object], lengths: Lengths, config: Config, tiling: Tiling
) -> Mapping[str, object]:
    """Name what kernels get by value; ValueError where it is not as in the `first` plan."""
    values = {
        "the number of requests": lengths.requests,
        "the kernel": config,
        "the number of heads of keys": tiling.kv_heads,
        "the number of heads of queries to one of keys": tiling.group,
        "causal": tiling.causal,
        "window_left": tiling.window_left,
        "whether keys may be split": tiling.split,
    }
    for name, value in values.items() if first else ():
        if first[name] != value:
            raise ValueError(
                f"{op}: {name} is {value}, the first plan() had {first[name]}, which is part of "
                "captured CUDA graphs: use another wrapper"
            )
    return values


def check_covered(op: str, planned: Options, asked: Options, masked: bool) -> None:
    """Refuse options by which queries see keys that the list of the last plan() does not have."""
    causal = planned.causal and not masked
    if causal and not asked.causal:
        raise ValueError(
            f"{op}: argument 'causal' is False, plan() was told True; the list of work, which is "
            "for CUDA graphs, lacks the keys after a query's own: plan() with causal=False"
        )
    seen = planned.window_left
    if seen >= 0 and not 0 <= asked.window_left <= seen:
        raise ValueError(
            f"{op}: argument 'window_left' is {asked.window_left}, plan() was told {seen}; the list "
            "of work, which is for CUDA graphs, lacks the keys before them: plan() with it"
        )
