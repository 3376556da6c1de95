"""The bound of a kernel: a level of memory, a unit of compute, or latency."""

from __future__ import annotations

from fictl.profile.ncu.digest.remark import Remark
from fictl.profile.ncu.digest.thresholds import BUSY, CLOSE, NEAR_PEAK, SAME, SHORT, WORKING
from fictl.profile.ncu.digest.units import Unit, busiest
from fictl.profile.ncu.launch import Launch

_TOPIC = "bound by"
# ncu's memory throughput is the maximum over the levels; the level nearest to the DRAM is first.
_LEVELS = {
    "DRAM": "gpu__dram_throughput",
    "L2": "lts__throughput",
    "L1 and shared memory": "l1tex__throughput",
}
_LESS = {
    "DRAM": "fewer bytes help: fuse with a neighbour, a smaller dtype, read each value once",
    "L2": "reuse helps: what several blocks read into shared memory or registers, blocks in an "
    "order in which neighbours share",
    "L1 and shared memory": "fewer accesses help: 16 bytes each, no bank conflicts, in registers "
    "what is read again",
}
_MORE = "more bytes in flight: 16-byte loads, several before the first use, more warps an SM"


def bound(launch: Launch) -> Remark | None:
    memory = launch.peak("gpu__compute_memory_throughput")
    compute = launch.peak("sm__throughput")
    if memory is None or compute is None:
        return None
    unit = busiest(launch)
    if unit and unit.is_tensor:  # Not every release of ncu counts it in the compute throughput.
        compute = max(compute, unit.percent)
    facts: dict[str, float | str] = {"memory": memory, "compute": compute}
    if unit and unit.is_tensor and unit.percent >= max(BUSY, memory, compute - SAME):
        return _tensor(unit, facts)
    if max(memory, compute) < BUSY:
        return _latency(launch, facts)
    if memory >= BUSY and compute >= BUSY and abs(memory - compute) < CLOSE:
        return _both(launch, facts)
    return _memory(launch, facts) if memory > compute else _compute(launch, facts)


def at_ceiling(launch: Launch) -> bool:
    """True if only less work makes the kernel faster."""
    unit = busiest(launch)
    tensor = unit.percent if unit and unit.is_tensor else None
    reached = (launch.peak("gpu__compute_memory_throughput"), launch.peak("sm__throughput"), tensor)
    return any(percent is not None and percent >= NEAR_PEAK for percent in reached)


def _latency(launch: Launch, facts: dict[str, float | str]) -> Remark:
    text = (
        f"latency: memory {facts['memory']:.0f} % and compute {facts['compute']:.0f} % of their "
        "peaks: warps wait, and there are not enough of them"
    )
    advice = "more independent work: more warps, or more loads and chains of each thread"
    if launch.waves is not None and launch.waves < 1:
        advice = "more blocks: the grid does not fill the GPU; then more loads and chains a thread"
    elif launch.seconds is not None and launch.seconds < SHORT:
        text += f"; {launch.seconds * 1e6:.1f} us are mostly its beginning and its end"
        advice = "do more in one launch: fuse it with its neighbours; CUDA graphs hide the launches"
    elif (unit := busiest(launch)) and unit.is_tensor and unit.percent >= WORKING:
        text += f"; the tensor pipe is the busiest unit, {unit.percent:.0f} %"
        advice = (
            "more products in flight: more stages, two warpgroups that take turns, the epilogue of one "
            "tile under the products of the next"
        )
    return Remark(_TOPIC, text, advice, {**facts, "kind": "latency"})


def _tensor(unit: Unit, facts: dict[str, float | str]) -> Remark:
    text = (
        f"tensor-pipe bound: {unit.name} {unit.percent:.0f} % of their peak (compute "
        f"{facts['compute']:.0f} %, memory {facts['memory']:.0f} %)"
    )
    return Remark(_TOPIC, text, unit.advice, {**facts, "kind": "tensor pipe", "unit": unit.name})


def _memory(launch: Launch, facts: dict[str, float | str]) -> Remark:
    level = _level(launch)
    text = f"memory: {_spelt(launch, level)} (compute {facts['compute']:.0f} %)"
    advice = f"near its ceiling only {_LESS[level]}" if at_ceiling(launch) else _MORE
    return Remark(_TOPIC, text, advice, {**facts, "kind": "memory", "level": level})


def _compute(launch: Launch, facts: dict[str, float | str]) -> Remark:
    unit = _limiting_unit(launch)
    text = f"compute: {facts['compute']:.0f} % of its peak (memory {facts['memory']:.0f} %)"
    if unit is None:
        return Remark(_TOPIC, text, "", {**facts, "kind": "compute"})
    text += f", most of all {unit.name} {unit.percent:.0f} %"
    return Remark(_TOPIC, text, unit.advice, {**facts, "kind": "compute", "unit": unit.name})


def _limiting_unit(launch: Launch) -> Unit | None:
    """The unit that limits the kernel; None if the limiting unit has no name here: the busiest
    known unit is not the limit then.
    """
    unit, whole = busiest(launch), launch.peak("sm__throughput") or 0.0
    return unit if unit and unit.percent >= whole - SAME else None


def _both(launch: Launch, facts: dict[str, float | str]) -> Remark:
    level, unit = _level(launch), _limiting_unit(launch)
    name = f", {unit.name} {unit.percent:.0f} %" if unit else ""
    text = (
        f"memory and compute alike: {_spelt(launch, level)}; compute {facts['compute']:.0f} % of "
        f"its peak{name}"
    )
    advice = f"both have to shrink: {_LESS[level]}"
    if unit:
        advice += f"; for {unit.name}: {unit.advice}"
    return Remark(_TOPIC, text, advice, {**facts, "kind": "memory and compute", "level": level})


def _level(launch: Launch) -> str:
    """The first level that nearly reaches the overall memory throughput: it also feeds the levels
    after it.
    """
    whole = launch.peak("gpu__compute_memory_throughput") or 0.0
    reached = {level: launch.peak(metric) or 0.0 for level, metric in _LEVELS.items()}
    near = (level for level, percent in reached.items() if percent >= whole - SAME)
    return next(near, max(reached, key=reached.__getitem__))


def _spelt(launch: Launch, first: str) -> str:
    """`DRAM 81 % of its peak, 3.89 TB/s; L2 90 %; L1 and shared memory 33 %`."""
    parts = []
    for level in sorted(_LEVELS, key=lambda level: level != first):
        percent = launch.peak(_LEVELS[level])
        if percent is not None:
            of_peak = " of its peak" if level == first else ""
            parts.append(f"{level} {percent:.0f} %{of_peak}")
    rate = launch.get("dram__bytes.sum.per_second")
    if rate is not None and first == "DRAM" and parts:
        parts[0] += f", {rate * 1e-12:.2f} TB/s"
    return "; ".join(parts)
