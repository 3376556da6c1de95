"""Testing of ops from their traces: inputs, comparison, timing, architectures, the pytest plugin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fictl.lazy import lazy

if TYPE_CHECKING:
    from fictl.case.compare import assert_close
    from fictl.case.inputs import make_inputs
    from fictl.case.poison import poisoned_allocations
    from fictl.testing.archs import (
        get_compute_capability,
        is_sm90a_supported,
        is_sm100a_supported,
        is_sm100f_supported,
        is_sm110a_supported,
        is_sm120a_supported,
        is_sm120f_supported,
        is_sm121a_supported,
    )
    from fictl.testing.generated.guard import beside_poison
    from fictl.testing.gpu_time import bench_gpu_time
    from fictl.testing.ranks import run_ranks

__all__ = [
    "assert_close",
    "bench_gpu_time",
    "beside_poison",
    "get_compute_capability",
    "is_sm90a_supported",
    "is_sm100a_supported",
    "is_sm100f_supported",
    "is_sm110a_supported",
    "is_sm120a_supported",
    "is_sm120f_supported",
    "is_sm121a_supported",
    "make_inputs",
    "poisoned_allocations",
    "run_ranks",
]

_ARCHS = [name for name in __all__ if name.startswith(("is_", "get_"))]

__getattr__ = lazy(
    __name__,
    {
        **dict.fromkeys(_ARCHS, "archs"),
        "assert_close": "fictl.case.compare",
        "bench_gpu_time": "gpu_time",
        "beside_poison": "generated.guard",
        "make_inputs": "fictl.case.inputs",
        "poisoned_allocations": "fictl.case.poison",
        "run_ranks": "ranks",
    },
)
