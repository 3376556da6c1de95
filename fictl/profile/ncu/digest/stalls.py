"""Stalls: reasons why the warps of a kernel wait, and remedies."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from fictl.profile.ncu.digest.remark import Remark
from fictl.profile.ncu.digest.thresholds import STALL, STALLS
from fictl.profile.ncu.launch import Launch

# Measured values, or the values from samples if only those exist.
_CYCLES = re.compile(r"smsp__average_warps_issue_stalled_(\w+)_per_issue_active\.ratio")
_SAMPLED = re.compile(r"smsp__pcsamp_warps_issue_stalled_(\w+)(?<!_not_issued)")
# These warps do not wait: one was issued, others were ready.
_BUSY = {"selected", "not_selected"}


@dataclass(frozen=True)
class Meaning:
    waits_for: str
    advice: str


MEANINGS = {
    "long_scoreboard": Meaning(
        "data from global or local memory",
        "issue loads earlier and several before the first use; more warps; cp.async or TMA into "
        "shared memory ahead of need",
    ),
    "short_scoreboard": Meaning(
        "data from shared memory, or exp, rsqrt and the like",
        "fewer dependent shared-memory accesses and shuffles; bank conflicts; reduce in registers "
        "first",
    ),
    "barrier": Meaning(
        "the other warps of the block, at a barrier",
        "fewer __syncthreads, smaller blocks, warps with equal work; between warps of one role "
        "named barriers",
    ),
    "membar": Meaning(
        "a memory fence", "fewer __threadfence; the narrowest scope; release instead of a fence"
    ),
    "lg_throttle": Meaning(
        "room in the queue of global and local memory",
        "fewer, wider accesses: 16 bytes a thread; no spills",
    ),
    "mio_throttle": Meaning(
        "room in the queue of shared memory and special functions",
        "fewer, wider shared-memory accesses; fewer shuffles",
    ),
    "tex_throttle": Meaning("room in the queue of the texture unit", "fewer texture fetches"),
    "math_pipe_throttle": Meaning(
        "an arithmetic pipe that is in use",
        "good where that pipe is the limit; else spread the work over other pipes",
    ),
    "wait": Meaning(
        "the fixed latency of the instruction before",
        "more independent chains of each thread: unroll, two accumulators",
    ),
    "dispatch_stall": Meaning("the dispatcher", "fewer register bank conflicts; other unrolling"),
    "no_instruction": Meaning(
        "its next instruction, from the instruction cache",
        "less code: unroll less, fewer inlined variants, no long branches",
    ),
    "branch_resolving": Meaning(
        "the target of a branch", "fewer branches: unroll, predicates, constant bounds"
    ),
    "drain": Meaning(
        "its last stores, before it ends",
        "spread the stores, or let warps do more than one piece of work",
    ),
    "imc_miss": Meaning(
        "a constant, from memory", "pass it in a register; index constants alike in a warp"
    ),
    "gmma": Meaning(
        "warp-group products on the tensor cores",
        "good where those are the limit; else more stages, and work between issue and wait",
    ),
    "sleeping": Meaning("the end of a sleep", "a shorter nanosleep, or a wait on a barrier"),
}
# At the ceiling of memory or of a pipe, warps of any kernel wait for exactly that.
_EXPECTED = {"long_scoreboard", "lg_throttle", "math_pipe_throttle", "gmma"}
_NO_FAULT = "no fault: what it waits for is at its ceiling"
_SAME = {"no_instructions": "no_instruction", "warpgroup_arrive": "gmma"}
# Shortened names of the source page's columns.
COLUMNS = {
    "long_sb": "long_scoreboard",
    "short_sb": "short_scoreboard",
    "lg": "lg_throttle",
    "mio": "mio_throttle",
    "tex": "tex_throttle",
    "math": "math_pipe_throttle",
    "dispatch": "dispatch_stall",
    "no_inst": "no_instruction",
    "imc": "imc_miss",
    "sleep": "sleeping",
}


def shares(launch: Launch) -> dict[str, float]:
    """Percent of a warp's time by stall reason; {} if nothing was collected."""
    for pattern in (_CYCLES, _SAMPLED):
        counts = _counts(launch.metrics, pattern)
        total = sum(counts.values())
        if total:
            return {name: 100 * count / total for name, count in counts.items()}
    return {}


def stalls(launch: Launch, at_ceiling: bool = False) -> list[Remark]:
    """The largest stalls that are worth an edit."""
    waits = {name: share for name, share in shares(launch).items() if name not in _BUSY}
    largest = sorted(waits, key=waits.__getitem__, reverse=True)[:STALLS]
    return [_remark(name, waits[name], at_ceiling) for name in largest if waits[name] >= STALL]


def _remark(name: str, share: float, at_ceiling: bool) -> Remark:
    meaning = MEANINGS.get(name)
    what = f": waiting for {meaning.waits_for}" if meaning else ""
    advice = meaning.advice if meaning else ""
    if at_ceiling and name in _EXPECTED:
        advice = _NO_FAULT
    text = f"{name.replace('_', ' ')} {share:.0f} %{what}"
    return Remark("stall", text, advice, {"name": name, "share": share})


def _counts(metrics: Mapping[str, float], pattern: re.Pattern[str]) -> dict[str, float]:
    matches = ((pattern.fullmatch(name), value) for name, value in metrics.items())
    return {_SAME.get(match[1], match[1]): value for match, value in matches if match}
