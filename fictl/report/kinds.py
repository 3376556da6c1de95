"""The kinds of defects, one sentence each, for reports that explain their rules."""

from __future__ import annotations

_SENTENCES = {
    "out-of-bounds": "An access outside of the memory that a tensor or an array has.",
    "read-only": "A write to a tensor that the op does not declare to change.",
    "uninitialised": "A read of memory that nothing has written.",
    "race": "Two accesses to one place, of which one writes and which nothing orders.",
    "misaligned": "An access at an address that is not a multiple of its size.",
    "divergent-barrier": "A barrier that some of the threads it waits for never reach.",
    "barrier-mismatch": "A barrier that is used in a way it does not allow.",
    "deadlock": "No thread of a block can go on.",
    "divergent-warpgroup": "An instruction of a warpgroup that its threads do not execute alike.",
    "bad-descriptor": "A matrix descriptor of wgmma that describes no tile.",
    "wgmma-register": "A register that changes while a wgmma uses it.",
    "uncommitted": "A wgmma in no group, or a wait for more groups than there are.",
    "register-pool": "Registers that setmaxnreg cannot move.",
    "bad-mask": "A mask that does not match the lanes that call.",
    "hang": "A kernel that does not end.",
    "null-pointer": "An access through a null pointer.",
    "bad-address": "An access at an address where nothing is.",
    "stack-overflow": "The stack of a thread is full.",
    "division-by-zero": "An integer division by zero.",
    "assert": "An assertion in a kernel that does not hold.",
    "trap": "A kernel that ended itself.",
    "bad-launch": "A launch that the driver refuses.",
    "bad-argument": "An argument that the driver refuses.",
    "api-error": "A call of the CUDA API that failed.",
    "bad-free": "Memory that is freed and was not allocated, or was freed before.",
    "leak": "Memory that is allocated and never freed.",
    "missing": "What the emulated device does not have.",
}


def sentence(kind: str) -> str:
    return _SENTENCES.get(kind, "A defect that the tool describes in its own words.")
