"""fi_trace: the definition of a call, which is not made."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["fi_trace"]


def fi_trace(
    func_or_method: Callable[..., Any], save_dir: str | Path | None = None, **kwargs: Any
) -> dict[str, Any]:
    """The document of flashinfer-bench that describes `func_or_method(**kwargs)`.

    `save_dir` keeps it; without one, FICTL_TRACE_DUMP of the calls themselves does.
    """
    from fictl.trace import fictl_trace

    return fictl_trace(func_or_method, save_dir)(**kwargs).to_dict()
