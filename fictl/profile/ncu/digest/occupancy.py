"""Occupancy: warps that an SM holds, how many it could hold, and the limiting resource."""

from __future__ import annotations

from math import prod

from fictl.profile.ncu.digest.remark import Remark
from fictl.profile.ncu.digest.thresholds import OCCUPANCY_ENOUGH, OCCUPANCY_LOST
from fictl.profile.ncu.launch import Launch

_LIMITS = {
    "registers": "registers",
    "shared_mem": "shared memory",
    "barriers": "barriers",
    "blocks": "blocks an SM",
}
_FEWER = {
    "registers": "fewer registers: __launch_bounds__ with a minimum of blocks, smaller tiles",
    "shared memory": "less shared memory a block: fewer stages, a smaller tile",
    "barriers": "fewer named barriers a block",
    "blocks an SM": "larger blocks",
}


def occupancy(launch: Launch, at_ceiling: bool = False) -> Remark | None:
    """Remark on occupancy: none at a ceiling, where warps suffice, or for a small grid, which lacks
    blocks.
    """
    achieved = launch.get("sm__warps_active.avg.pct_of_peak_sustained_active")
    possible = launch.get("sm__maximum_warps_per_active_cycle_pct")
    if achieved is None or possible is None:
        return None
    text = f"{achieved:.0f} % of an SM's warps; the launch allows {possible:.0f} %"
    limit = _limit(launch) if possible < 100 else ""
    if limit:
        text += f", limited by {limit}{_values(launch, limit)}"
    facts: dict[str, float | str] = {"achieved": achieved, "theoretical": possible, "limit": limit}
    small = launch.waves is not None and launch.waves < 1
    advice = "" if at_ceiling or small else _advice(achieved, possible, limit)
    return Remark("occupancy", text, advice, facts)


def _limit(launch: Launch) -> str:
    """The resource that allows the fewest blocks; or whole blocks that do not fill an
    SM's warps.
    """
    blocks = {
        name: count
        for key, name in _LIMITS.items()
        if (count := launch.get(f"launch__occupancy_limit_{key}")) is not None
    }
    of_warps = launch.get("launch__occupancy_limit_warps")
    if not blocks or of_warps is None:
        return ""
    fewest = min(blocks, key=blocks.__getitem__)
    return fewest if blocks[fewest] < of_warps else "the block's size"


def _values(launch: Launch, limit: str) -> str:
    threads = prod(launch.block)
    registers = launch.get("launch__registers_per_thread")
    shared = launch.get("launch__shared_mem_per_block")
    if limit == "registers" and registers is not None:
        return f" ({registers:.0f} a thread, blocks of {threads})"
    if limit == "shared memory" and shared is not None:
        return f" ({shared / 1e3:.1f} kB a block)"
    return f" ({threads} threads)" if limit == "the block's size" else ""


def _advice(achieved: float, possible: float, limit: str) -> str:
    if possible - achieved > OCCUPANCY_LOST:
        return "blocks end at different times: equal work for each, or smaller ones"
    if possible < OCCUPANCY_ENOUGH:
        fewer = _FEWER.get(limit, "blocks of another size")
        return f"{fewer}, or more work in flight of each warp"
    return ""
