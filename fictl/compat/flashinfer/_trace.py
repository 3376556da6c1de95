"""fi_trace: the definition of a call, without making the call."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["fi_trace"]


def fi_trace(
    func_or_method: Callable[..., Any], save_dir: str | Path | None = None, **kwargs: Any
) -> dict[str, Any]:
    """Return flashinfer-bench's document that describes `func_or_method(**kwargs)`.

    `save_dir` stores it; without one, FICTL_TRACE_DUMP stores those of the calls themselves.
    """
    from fictl.trace import fictl_trace

    return fictl_trace(func_or_method, save_dir)(**kwargs).to_dict()
