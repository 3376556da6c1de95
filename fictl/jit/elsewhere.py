"""Builds made by another process: a process that runs what nobody trusts orders them from it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace

from fictl.jit.commit import commit
from fictl.jit.compile import kept_failure
from fictl.jit.diagnose import Diagnosis
from fictl.jit.order import NAME, Order, order_of
from fictl.jit.plan import Plan
from fictl.jit.store.entry import MODULE, Entry
from fictl.jit.store.staging import publish, staging_folder
from fictl.jit.store.stores import Store


@dataclass(frozen=True)
class Made:
    """The answer to an order: an open file with the module, or why it does not build."""

    module: int = -1
    seconds: float = 0.0
    first: str = ""
    hint: str = ""
    log: str = ""


Maker = Callable[[Order], "Made | None"]
_makers: list[Maker] = []  # The last one counts.


def order_from(maker: Maker) -> None:
    """Have `maker` build from now on; where it returns None, this process builds."""
    _makers.append(maker)


def made(plan: Plan, store: Store) -> Entry | None:
    """Return a build that was ordered, under this plan's own names; None if nobody builds it.

    BuildFailed is raised as if it had been built here.
    """
    order = order_of(plan) if _makers and not plan.spec.is_runtime else None
    delivery = _makers[-1](order) if order is not None else None
    if delivery is None:
        return None
    module_dir = store.module_dir(plan.spec.project, plan.spec.name)
    with staging_folder(module_dir) as staging:
        if delivery.module < 0:
            (staging / "build.log").write_text(delivery.log, encoding="utf-8", errors="replace")
            raise kept_failure(plan, Diagnosis(delivery.first, delivery.hint), staging, module_dir)
        with os.fdopen(delivery.module, "rb") as source, (staging / MODULE).open("wb") as target:
            shutil.copyfileobj(source, target)
        commit(_as_ordered(plan), staging, delivery.seconds, {}, 0)
        final = store.recipe_dir(plan.spec.project, plan.spec.name, plan.recipe.key)
        return publish(staging, final / plan.build_key)


def _as_ordered(plan: Plan) -> Plan:
    """Return the plan with the names that the debug info of an ordered module has."""
    own = plan.spec.name.replace(".", "/")
    names = (NAME if place.name == own else place.name for place in plan.places)
    places = (replace(place, name=name) for place, name in zip(plan.places, names, strict=True))
    return replace(plan, places=tuple(places))
