"""enable_tracing and disable_tracing, called as in flashinfer_bench."""

from __future__ import annotations

from pathlib import Path

from fictl import settings
from fictl.errors import UsageError
from fictl.tracing.runtime import AnyConfig, TracingRuntime


def enable_tracing(dataset: str | Path | None = None, config: AnyConfig = None) -> TracingRuntime:
    """Collect workloads into a folder that is named here or by FICTL_TRACING; also as a context."""
    root = dataset or settings.TRACING.get()
    if root is None:
        raise UsageError(
            "enable_tracing: no folder is named", f"name one, or set {settings.TRACING.name}"
        )
    return TracingRuntime(root, config).start()


def disable_tracing() -> None:
    """Write what is held, and restore the runtime before; without one, nothing happens."""
    current = TracingRuntime.current()
    if current is not None:
        current.stop()
