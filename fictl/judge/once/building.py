"""One order, built in a sandboxed process of its own, and kept by nobody but this process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fictl import rooted
from fictl.errors import FictlError
from fictl.jit.order import Order
from fictl.judge.inside.order_server import MODULE
from fictl.judge.inside.roles import BUILDER
from fictl.judge.once.shelf import Shelf
from fictl.judge.process.hidden import hidden_from_solutions
from fictl.judge.process.order_desk import OWN, Delivery
from fictl.judge.process.sandboxed_process import Hung, SandboxedProcess
from fictl.judge.process.scratch import scratch_folder
from fictl.judge.process.spawn import start


@dataclass(frozen=True)
class Walls:
    """Walls of a builder: those of the solution that ordered, but for its GPU."""

    device: str
    seconds: float
    root: Path | None = None
    untrusted: bool = False


def build(
    key: str,
    order: Order,
    shelf: Shelf,
    walls: Walls,
    began: Callable[[SandboxedProcess], object] = lambda process: None,
) -> None:
    """Build, and put the end on the shelf."""
    with scratch_folder("order") as scratch:
        folder = scratch / "work"
        with start(
            BUILDER,
            folder,
            hidden=hidden_from_solutions(walls.root),
            device=walls.device,
            gpu=None,
            untrusted=walls.untrusted,
        ) as process:
            began(process)
            delivery, has_module = _asked(process, order, folder, walls.seconds)
        # Nothing of the builder runs any more: what lies there stays as it is.
        if not has_module:
            shelf.put(key, delivery)
            return
        with rooted.opened(folder, folder / MODULE) as module:
            shelf.put(key, delivery, module)


def _asked(
    process: SandboxedProcess, order: Order, folder: Path, seconds: float
) -> tuple[Delivery, bool]:
    try:
        answer = process.ask(
            {"op": "build", "order": dict(order), "folder": str(folder.resolve())}, seconds
        )
    except Hung:
        return Delivery(first=f"it was still being built after {seconds:g} s"), False
    except FictlError:  # It crashed: whoever ordered may have the same happen to itself.
        return OWN, False
    if answer.get("ok"):
        return Delivery(seconds=_number(answer.get("seconds"))), True
    if answer.get("kind") != "build":
        return OWN, False
    first, hint, log = (str(answer.get(name, "")) for name in ("first", "hint", "log"))
    return Delivery(first=first, hint=hint, log=log), False


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
