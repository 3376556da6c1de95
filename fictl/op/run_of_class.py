"""The decorated `run` of a class until the class is complete: then its plan() is known, too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Around = Callable[[Callable[..., Any]], Callable[..., Any]]


class RunOfClass:
    """Puts `run` in its own place, and `around` the plan beside it, under all names of both."""

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
        """Bind what the body of the class has turned it into, as `partialmethod(run, …)`."""
        return self._run.__get__(instance, owner)
