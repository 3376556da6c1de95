"""Values that captured CUDA graphs hold, which later plans may not change."""

from __future__ import annotations

from collections.abc import Mapping

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
