"""Grid of a kernel: blocks for all SMs, and the cost of the last wave."""

from __future__ import annotations

from math import ceil, prod

from fictl.profile.ncu.digest.remark import Remark
from fictl.profile.ncu.digest.thresholds import LANES, TAIL
from fictl.profile.ncu.launch import Launch


def waves(launch: Launch) -> Remark | None:
    count = launch.waves
    if not count:
        return None
    if count < 1:
        return _part_of_one(launch, count)
    idle = 100 * (ceil(count) - count) / ceil(count)
    text = f"{count:.1f} waves of blocks"
    facts = {"waves": count, "idle_percent": idle}
    if idle < TAIL:
        return Remark("waves", text, "", facts)
    text += f": the last is part-filled, up to {idle:.0f} % of the GPU's time is idle"
    advice = "a persistent grid, or another tile, so that the waves come out even"
    return Remark("waves", text, advice, facts)


def _part_of_one(launch: Launch, count: float) -> Remark:
    blocks, sms = prod(launch.grid), launch.get("launch__sm_count")
    text = f"{blocks} blocks are {count:.2g} of a wave"
    if sms and blocks < sms:
        text += f": {sms - blocks:.0f} of {sms:.0f} SMs have none"
    elif sms:
        text += f": {sms:.0f} SMs have room for {blocks / count:.0f}"
    advice = "more, smaller pieces of work: split the rows or the reduction over blocks"
    return Remark("waves", text, advice, {"waves": count})


def lanes(launch: Launch) -> Remark | None:
    """Remark on idle lanes, if there are many."""
    working = launch.get("smsp__thread_inst_executed_pred_on_per_inst_executed.ratio")
    if working is None or working >= LANES:
        return None
    text = f"{working:.0f} of the 32 lanes of a warp work in an instruction"
    advice = "branches that a warp takes together; edges by masks on few warps; short rows packed"
    return Remark("lanes", text, advice, {"lanes": working})
