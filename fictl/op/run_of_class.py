"""Placeholder for the decorated `run` until the class is complete and its plan() is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Around = Callable[[Callable[..., Any]], Callable[..., Any]]


class RunOfClass:
    """Replace itself by `run`, and wrap the class's plan with `around`, under all names of both."""

    def __init__(self, run: Callable[..., Any], around: Sequence[Around]) -> None:
        self._run = run
        self._around = around
        self.op: Any = run.op  # type: ignore[attr-defined]

    def __set_name__(self, owner: type, name: str) -> None:
        setattr(owner, name, self._run)
        plan = vars(owner).get("plan")
        if plan is None:
            return
        around, self._around = self._around, ()
        replacement: Any = plan
        for wrap in around:
            replacement = wrap(replacement)
        for alias in [key for key, value in vars(owner).items() if value is plan]:
            setattr(owner, alias, replacement)

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        """Bind it if the class body wrapped it, as in `partialmethod(run, …)`."""
        return self._run.__get__(instance, owner)
