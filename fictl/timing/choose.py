"""Choice of the timer: the best one that works here, or the one requested by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from fictl.errors import InvalidValue
from fictl.timing.cupti import Cupti
from fictl.timing.events import Events
from fictl.timing.graph import Graph
from fictl.timing.host import Host
from fictl.timing.timer import Timer, Unusable

Result = TypeVar("Result")

# Best first.
_TIMERS: Mapping[str, type[Timer]] = {kind.name: kind for kind in (Cupti, Graph, Events)}


def ladder(timer: str, device: str) -> list[type[Timer]]:
    """Return the timers to try, in order; `timer` is 'auto', a name, or names between commas."""
    if not device.startswith("cuda"):
        if timer not in ("auto", Host.name):
            raise InvalidValue(
                f"the timer {timer!r} times a GPU, not the device {device!r}", "leave it out"
            )
        return [Host]
    names = list(_TIMERS) if timer == "auto" else timer.split(",")
    unknown = [name for name in names if name not in _TIMERS]
    if unknown:
        raise InvalidValue(
            f"{unknown[0]!r} is not a timer", f"one of auto, {', '.join(_TIMERS)}; or several: a,b"
        )
    return [_TIMERS[name] for name in names]


def use_best(steps: list[type[Timer]], use: Callable[[Timer], Result]) -> tuple[Result, str]:
    """Call `use` with the first timer that works; return its result and the errors before it."""
    why: list[str] = []
    for step in steps:
        try:
            with step() as timer:
                return use(timer), "; ".join(filter(None, [*why, timer.remark()]))
        except Unusable as problem:
            if step is steps[-1]:
                hint = problem.hint or "leave the choice of the timer to fictl"
                reasons = "; ".join([*why, f"{step.name}: {problem.message}"])
                raise type(problem)(reasons, hint) from None
            why.append(f"{step.name}: {problem.message}")
    raise AssertionError("a ladder has a step")
