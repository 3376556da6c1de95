"""Memory accesses of a kernel: coalescing, bank conflicts, and local memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fictl.profile.ncu.digest.remark import Remark, counted
from fictl.profile.ncu.digest.thresholds import COALESCED, CONFLICTS, FEW_REQUESTS, NARROW
from fictl.profile.ncu.launch import Launch
from fictl.profile.ncu.source import Line

_SECTOR = 32.0
_PLACES = 3
_L1 = "l1tex__t_{what}_pipe_lsu_mem_{space}_op_{op}.sum"


def accesses(launch: Launch, lines: Sequence[Line] = ()) -> Iterator[Remark]:
    for op, word in (("ld", "loads"), ("st", "stores")):
        remark = _global(launch, op, word)
        if remark:
            yield remark
    for sentence in (_shared(launch), _local(launch, lines)):
        if sentence:
            yield sentence


def _global(launch: Launch, op: str, word: str) -> Remark | None:
    used = launch.get(f"smsp__sass_average_data_bytes_per_sector_mem_global_op_{op}.ratio")
    requests = launch.get(_L1.format(what="requests", space="global", op=op))
    sectors = launch.get(_L1.format(what="sectors", space="global", op=op))
    if used is None or not requests or sectors is None:
        return None
    per_request = sectors / requests
    text = (
        f"global {word} use {used:.0f} of the {_SECTOR:.0f} bytes of a sector, "
        f"{per_request:.3g} sectors a request"
    )
    advice = ""
    if 100 * used / _SECTOR < COALESCED:
        advice = (
            "neighbouring threads should access neighbouring addresses, from an aligned start: "
            "another order of the loops, or a transpose through shared memory"
        )
    elif per_request <= NARROW and requests >= FEW_REQUESTS:
        advice = f"coalesced but narrow: 16-byte vectors need {16 / per_request:.0f} times fewer requests"
    facts = {"bytes_per_sector": used, "sectors_per_request": per_request}
    return Remark("coalescing", text, advice, facts)


def _shared(launch: Launch) -> Remark | None:
    """Bank conflicts by the compiler's count of what a request needs; in older reports by the
    hardware.
    """
    passes, ideal = _passes(launch)
    if passes is None or ideal is None or not passes:
        return None
    share = 100 * (passes - ideal) / passes
    facts = {"wavefronts": passes, "conflicts_percent": share}
    if share < CONFLICTS:
        return Remark("bank conflicts", "none to speak of in shared memory", "", facts)
    text = f"{share:.0f} % of the passes through shared memory are bank conflicts"
    advice = "pad the rows by one vector, or swizzle: lanes of a request to different banks"
    return Remark("bank conflicts", text, advice, facts)


def _passes(launch: Launch) -> tuple[float | None, float | None]:
    passes = launch.get("memory_l1_wavefronts_shared")
    if passes is not None:
        return passes, launch.get("memory_l1_wavefronts_shared_ideal")
    passes = launch.get("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum")
    conflicts = launch.get("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum")
    return passes, passes - conflicts if passes is not None and conflicts is not None else None


def _places(lines: Sequence[Line]) -> str:
    """The source lines with the largest part."""
    most = sorted((line for line in lines if line.local), key=lambda line: -line.local)[:_PLACES]
    return f", most of them at {', '.join(line.place for line in most)}" if most else ""


def _local(launch: Launch, lines: Sequence[Line]) -> Remark | None:
    """Local memory: spills, or arrays with an index known only at run time."""
    counts = [launch.get(f"smsp__sass_inst_executed_op_local_{op}.sum") for op in ("ld", "st")]
    if any(count is None for count in counts):
        return None
    executed = sum(filter(None, counts))
    spills = launch.get("derived__local_spilling_requests")
    facts = {"instructions": executed, "spill_requests": spills or 0.0}
    if not executed:
        return Remark("local memory", "none: no spills, no arrays in memory", "", facts)
    text = f"{counted(executed)} instructions of warps access local memory{_places(lines)}"
    if spills:
        text += f"; {counted(spills)} of their requests are spilled registers"
        advice = "smaller tiles, less unrolling, a __launch_bounds__ that asks for fewer blocks"
    else:
        advice = (
            "an array that is indexed at run time lies in memory: unroll the loops over it, "
            "constant indices, or shared memory; spills: fictl inspect"
        )
        if spills == 0:
            text += "; none is a spilled register"
    return Remark("local memory", text, advice, facts)
