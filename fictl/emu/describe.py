"""Texts for the runtime's reports: what happened, and the probable cause."""

from __future__ import annotations

from typing import Any


def describe(kind: str, facts: dict[str, Any]) -> str:
    """Describe what happened, for kinds whose reports contain no description."""
    say = _WHAT.get(kind)
    return say.format_map(_Known(facts)) if say else kind.replace("-", " ")


def cause(kind: str, facts: dict[str, Any]) -> str:
    """Return the usual cause of a defect of this kind."""
    return _CAUSE.get(kind, "").format_map(_Known(facts))


class _Unknown:
    """A fact that a report lacks: "?" in any format."""

    def __format__(self, form: str) -> str:
        return "?"


class _Known(dict[str, Any]):
    """Facts of a report; a missing one is _Unknown."""

    def __missing__(self, name: str) -> _Unknown:
        return _Unknown()


_WHAT = {
    "deadlock": "no thread of the block can go on",
    "hang": "threads run and nothing changes",
    "divergent-barrier": (
        "this thread is at one __syncthreads(), threads {waiting} wait at another, "
        "{waiting_file}:{waiting_line}"
    ),
    "barrier-mismatch": (
        "this thread names {expected} threads for a barrier, threads {waiting}, who wait at "
        "{waiting_file}:{waiting_line}, named {waiting_expected} (0: the whole block)"
    ),
    "bad-mask": "{operation} with the mask {mask:#010x}, which does not name the calling lane",
    "null-pointer": "an access at address {address:#x}",
    "bad-address": "an access at address {address:#x}, where nothing is",
    "stack-overflow": "the thread's stack of 64 KiB is full",
    "division-by-zero": "an integer division by zero, or of the smallest number by -1",
    "trap": "the kernel executed a trap",
    "misaligned": "{operation} of {bytes} bytes at address {address:#x}",
    "assert": "assertion failed",
    "tx-mismatch": "an mbarrier counts other bytes than its copies bring",
}

_CAUSE = {
    "uncommitted": "wgmma.commit_group closes a group: without it no wait covers the product",
    "deadlock": "a thread has returned, or gone another way, before the others could pass",
    "divergent-barrier": (
        "__syncthreads() in a branch that not all threads of the block take: move it out of there"
    ),
    "barrier-mismatch": "the two sides of a named barrier count its threads differently",
    "hang": "a loop waits for something that no thread will do, or its end is never reached",
    "bad-mask": "the mask must name every lane that calls, as a ballot before the branch gives it",
    "null-pointer": "a null pointer, perhaps of an optional tensor that was not passed",
    "stack-overflow": "a large local array, or recursion without an end",
    "missing": "the emulated device does not have it: run this on a GPU",
    "tx-mismatch": (
        "arrive.expect_tx must name the bytes of all copies of the phase: of whole boxes, also where "
        "they reach beyond the tensor"
    ),
    "misaligned": "the address must be a multiple of the size",
}
