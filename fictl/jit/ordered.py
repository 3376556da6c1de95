"""Building what another process has ordered."""

from __future__ import annotations

from pathlib import Path

from fictl.arch import Arch
from fictl.errors import FictlError
from fictl.jit.build import ensure, plan_build
from fictl.jit.order import Order, facts, fill
from fictl.jit.store.entry import Entry


class BadOrder(FictlError):
    """The order does not describe what would be built."""


def build(order: Order, folder: Path) -> Entry:
    """Build an order whose files lie in `folder`; BadOrder if it says something else than they."""
    spec = fill(order, folder)
    archs = tuple(map(Arch.parse, order["targets"])) if order["device"] == "cuda" else ()
    ours = facts(plan_build(spec, archs))
    differing = [name for name, value in ours.items() if value != order[name]]
    if differing:
        raise BadOrder(f"the files of an order have other {', '.join(differing)} than it says")
    return ensure(spec, archs).entry
