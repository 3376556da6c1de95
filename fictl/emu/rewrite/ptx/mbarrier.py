"""Translations of mbarrier instructions and of the fences between generic and async accesses."""

from __future__ import annotations

from fictl.emu.rewrite.ptx.control import SITE
from fictl.emu.rewrite.ptx.instruction import Instruction, emulates
from fictl.emu.rewrite.ptx.operands import NotEmulated

SPACES = ("shared::cta", "shared::cluster", "shared")


def _barrier(i: Instruction, index: int) -> str:
    """Return the address of the barrier, after its modifiers: space and type."""
    if i.take("b64") is None:
        raise NotEmulated(i.name)
    return i.address(index, i.take(*SPACES) or "generic")


def _use(i: Instruction, *flags: str) -> str:
    """Return how the barrier is used, from the modifiers of memory order and scope."""
    order, scope = i.take("acquire", "release", "relaxed"), i.take("cta", "cluster")
    words = [
        *flags,
        "RELAXED" if order == "relaxed" else "",
        "CLUSTER" if scope == "cluster" else "",
    ]
    return " | ".join(f"FICTL_EMU_{word}" for word in words if word) or "0"


@emulates("mbarrier.init")
def initialise(i: Instruction) -> str:
    barrier = _barrier(i, 0)
    i.done(2)
    return f"::fictl_emu_mbarrier_init({barrier}, {i.get(1, 'u32')});"


@emulates("mbarrier.inval")
def invalidate(i: Instruction) -> str:
    barrier = _barrier(i, 0)
    i.done(1)
    return f"::fictl_emu_mbarrier_inval({barrier});"


@emulates("mbarrier.arrive", "mbarrier.arrive_drop")
def arrive(i: Instruction) -> str:
    drops = "DROP" if i.name.endswith("drop") else ""
    expects = i.take("expect_tx")
    use = _use(i, drops)
    barrier = _barrier(i, 1)
    i.done(*((3,) if expects else (2, 3)))
    last = i.get(2, "u32") if len(i.operands) == 3 else "1u"
    count, bytes_ = ("1u", last) if expects else (last, "0u")
    return i.set(0, f"::fictl_emu_mbarrier_arrive({barrier}, {count}, {bytes_}, {use})")


@emulates("mbarrier.expect_tx", "mbarrier.complete_tx")
def count_bytes(i: Instruction) -> str:
    _use(i)
    barrier = _barrier(i, 0)
    i.done(2)
    function = "expect" if i.name.endswith("expect_tx") else "complete"
    return f"::fictl_emu_mbarrier_{function}({barrier}, {i.get(1, 'u32')});"


@emulates("mbarrier.try_wait", "mbarrier.test_wait")
def wait(i: Instruction) -> str:
    by_parity = i.take("parity")
    use = _use(i, "BY_PARITY" if by_parity else "", "TEST" if i.name.endswith("test_wait") else "")
    barrier = _barrier(i, 1)
    # The time after which try_wait may give up has no meaning here.
    i.done(*((3, 4) if i.name.endswith("try_wait") else (3,)))
    which = i.get(2, "u32" if by_parity else "u64")
    return i.set(0, f"::fictl_emu_mbarrier_wait({barrier}, {which}, {use}, {SITE}) != 0")


@emulates("mbarrier.pending_count")
def pending_count(i: Instruction) -> str:
    i.take("b64")
    i.done(2)
    return i.set(0, f"static_cast<uint32_t>({i.get(1, 'u64')} & 0xFFFFF)")


@emulates("cp.async.mbarrier.arrive")
def arrive_behind_copies(i: Instruction) -> str:
    counts = "0" if i.take("noinc") else "1"
    barrier = _barrier(i, 0)
    i.done(1)
    return f"::fictl_emu_copy_arrive({barrier}, {counts});"


# ---- fences ----

_PROXIES = {"shared::cta": "SHARED", "shared::cluster": "SHARED", "global": "GLOBAL", None: "ALL"}


@emulates("fence.proxy.async")
def proxy_fence(i: Instruction) -> str:
    space = i.take("shared::cta", "shared::cluster", "global")
    i.done(0)
    return f"::fictl_emu_proxy_fence(FICTL_EMU_PROXY_{_PROXIES[space]});"


@emulates("fence.mbarrier_init")
def fence_of_barriers(i: Instruction) -> str:
    if i.take("release") is None or i.take("cluster") is None:
        raise NotEmulated(i.name)
    i.done(0)
    return "::fictl_emu_proxy_fence(FICTL_EMU_PROXY_BARRIERS);"


@emulates("fence.proxy.tensormap::generic")
def fence_of_maps(i: Instruction) -> str:
    i.take("acquire", "release")
    i.take("cta", "cluster", "gpu", "sys")
    i.done(0, 2)
    return "::fictl_emu_proxy_fence(FICTL_EMU_PROXY_MAPS);"
