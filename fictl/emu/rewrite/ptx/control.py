"""Translations of control flow; refusals of instructions that are not emulated yet."""

from __future__ import annotations

import re

from fictl.emu.rewrite.ptx.instruction import Instruction, emulates
from fictl.emu.rewrite.ptx.operands import NotEmulated

SITE = "__builtin_FILE(), __builtin_LINE()"


def label(name: str, statement: str) -> str:
    return f"fictl_emu_{statement}_{re.sub(r'[^A-Za-z0-9_]', '_', name)}"


@emulates("bra")
def branch(i: Instruction) -> str:
    i.ignore("uni")
    i.done(1)
    return f"goto {label(i.operand(0), i.names.labels)};"


@emulates("exit")
def leave(i: Instruction) -> str:
    i.done(0)
    return "::fictl_emu_exit_thread();"


@emulates("trap")
def trap(i: Instruction) -> str:
    i.done(0)
    return f'::fictl_emu_stop("trap", "the PTX instruction trap", {SITE});'


@emulates("nanosleep")
def sleep(i: Instruction) -> str:
    return f"::fictl_emu_yield(0, {SITE});"


@emulates("brkpt", "pmevent")
def nothing(i: Instruction) -> str:
    """Emit nothing: both are for debuggers and profilers."""
    return ""


@emulates(
    "wgmma",
    "red.async",
    "tensormap",
    "multimem",
    "tcgen05",
    "clusterlaunchcontrol",
)
def of_clusters_and_hopper(i: Instruction) -> str:
    raise NotEmulated(i.name)
