"""The units of an SM by their load: candidates for a kernel's limit."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fictl.profile.ncu.launch import Launch

# Of the time that an SM works, a share is at least that of the launch: it counts where the other is
# not collected. wgmma is in the cycles of the tensor pipe and of tensor_op_hmma; its instructions,
# tensor_op_gmma, are few.
_PIPE = re.compile(
    r"sm__(?:inst_executed_)?pipe_(?P<name>\w+?)(?:_cycles_active)?"
    r"\.avg\.pct_of_peak_sustained_(?P<of>elapsed|active)"
)
_TENSOR = "tensor"
_ISSUE = "sm__issue_active"
_ISSUE_SLOTS = "issue slots"

# Start of a pipe's name -> its name for people, and advice if it is the limit.
_KNOWN = {
    _TENSOR: (
        "tensor cores",
        "what is left are larger tiles, a smaller dtype, and work that need not be done",
    ),
    "fma": ("FMA pipe (FP32)", "fewer multiplications, packed half2 or bfloat162, tensor cores"),
    "fp64": ("FP64 pipe", "is a double constant in it? write 1.0f; else float where it suffices"),
    "fp16": ("FP16 pipe", "fewer conversions; tensor cores where it is a product"),
    "alu": (
        "ALU pipe (integers, logic, min and max)",
        "less index arithmetic: 32-bit indices, strides by powers of two, loop-invariant parts "
        "outside",
    ),
    "xu": (
        "XU pipe (exp, log, rsqrt, conversions)",
        "fewer of them a value: exp2f with the scale folded in, one reciprocal in place of "
        "divisions",
    ),
    "lsu": ("LSU pipe (loads and stores)", "wider accesses: 16 bytes a thread"),
    "adu": ("ADU pipe (constants, branches, barriers)", "fewer barriers and constant loads"),
    "cbu": ("CBU pipe (branches)", "unroll, and predicates in place of branches"),
    "tex": ("texture pipe", "plain loads in place of texture fetches"),
    "tma": ("TMA", "larger boxes: fewer copies for the same bytes"),
    "uniform": ("uniform pipe", "less arithmetic that is the same for a whole warp"),
    _ISSUE_SLOTS: (
        _ISSUE_SLOTS,
        "fewer instructions for the same work: wider vectors, packed arithmetic, unrolled loops",
    ),
}


@dataclass(frozen=True)
class Unit:
    name: str
    percent: float
    advice: str
    is_tensor: bool = False


def busiest(launch: Launch) -> Unit | None:
    """The busiest unit; None if ncu collected none."""
    percents = {**_percents(launch, "active"), **_percents(launch, "elapsed")}
    issued = launch.peak(_ISSUE)
    if issued is not None:
        percents[_ISSUE_SLOTS] = issued
    if not percents:
        return None
    key = max(percents, key=percents.__getitem__)
    name, advice = _KNOWN[key]
    return Unit(name, percents[key], advice, key == _TENSOR)


def _percents(launch: Launch, of: str) -> dict[str, float]:
    """Load of each known pipe: the largest of its metrics."""
    percents: dict[str, float] = {}
    for metric, value in launch.metrics.items():
        match = _PIPE.fullmatch(metric)
        if match and match["of"] == of:
            known = next((key for key in _KNOWN if match["name"].startswith(key)), None)
            if known:
                percents[known] = max(value, percents.get(known, 0.0))
    return percents
