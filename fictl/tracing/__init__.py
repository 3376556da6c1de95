"""Tracing: collects workloads of a running program as a dataset; flashinfer_bench.tracing's API."""

from typing import TYPE_CHECKING

from fictl.lazy import lazy

if TYPE_CHECKING:
    from fictl.tracing.api import disable_tracing, enable_tracing
    from fictl.tracing.config import TracingConfig, TracingConfigRegistry
    from fictl.tracing.entry import WorkloadEntry
    from fictl.tracing.policies import (
        KeepAll,
        KeepFirstByAxes,
        KeepFirstByLengths,
        KeepFirstK,
        KeepNone,
        Sample,
    )
    from fictl.tracing.runtime import CollectResult, TracingRuntime

__all__ = [
    "CollectResult",
    "KeepAll",
    "KeepFirstByAxes",
    "KeepFirstByLengths",
    "KeepFirstK",
    "KeepNone",
    "Sample",
    "TracingConfig",
    "TracingConfigRegistry",
    "TracingRuntime",
    "WorkloadEntry",
    "disable_tracing",
    "enable_tracing",
]

_POLICIES = ("KeepAll", "KeepFirstByAxes", "KeepFirstByLengths", "KeepFirstK", "KeepNone", "Sample")

__getattr__ = lazy(
    __name__,
    {
        "CollectResult": "runtime",
        "TracingConfig": "config",
        "TracingConfigRegistry": "config",
        "TracingRuntime": "runtime",
        "WorkloadEntry": "entry",
        "disable_tracing": "api",
        "enable_tracing": "api",
        **dict.fromkeys(_POLICIES, "policies"),
    },
)
