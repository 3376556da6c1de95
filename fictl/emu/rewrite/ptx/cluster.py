"""Translations of instructions on clusters of blocks and on grids that depend on each other."""

from __future__ import annotations

from fictl.emu.rewrite.ptx.control import SITE
from fictl.emu.rewrite.ptx.instruction import Instruction, emulates
from fictl.emu.rewrite.ptx.operands import TYPES, NotEmulated, P


@emulates("barrier.cluster.arrive")
def arrive(i: Instruction) -> str:
    ordering = i.take("release", "relaxed")
    i.ignore("aligned")
    i.done(0)
    return f"::fictl_emu_cluster_arrive({int(ordering != 'relaxed')}, {SITE});"


@emulates("barrier.cluster.wait")
def wait(i: Instruction) -> str:
    i.ignore("acquire", "aligned")
    i.done(0)
    return f"::fictl_emu_cluster_wait({SITE});"


@emulates("mapa")
def map_address(i: Instruction) -> str:
    i.type()
    space = i.take("shared::cluster")
    i.done(3)
    rank = i.get(2, "u32")
    where = "map_shared_address" if space else "map_generic_address"
    return i.set(0, f"{P}{where}({i.get(1, 'u64')}, {rank}, {SITE})")


@emulates("getctarank")
def rank_of(i: Instruction) -> str:
    i.type()
    space = i.take("shared::cluster")
    i.done(2)
    address = i.get(1, "u64")
    pointer = f"{P}cluster_address({address})" if space else f"{P}generic_address({address})"
    return i.set(0, f"::fictl_emu_shared_rank({pointer}, {SITE})")


_VECTORS = {None: 1, "v2": 2, "v4": 4}
_STORED = ("b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64")


@emulates("st.async")
def store(i: Instruction) -> str:
    i.ignore("weak")
    type_ = i.type()
    count = _VECTORS[i.take("v2", "v4")]
    if i.take("mbarrier::complete_tx::bytes") is None or type_ not in _STORED:
        raise NotEmulated(i.name)
    i.ignore("shared::cluster")
    i.done(3)
    parts = i.parts(1)
    if len(parts) != count:
        raise NotEmulated(f"{len(parts)} registers for {count}")
    if count * int(type_[1:]) > 128:
        raise NotEmulated(f"a vector of more than 16 bytes: {count} x .{type_}")
    values = ", ".join(i.cast(part, type_) for part in parts)
    to, barrier = i.address(0, "shared::cluster"), i.address(2, "shared::cluster")
    return (
        f"{{ const {TYPES[type_]} fictl_emu_v[] = {{{values}}}; "
        f"::fictl_emu_async_store({to}, fictl_emu_v, sizeof fictl_emu_v, {barrier}); }}"
    )


@emulates("griddepcontrol")
def dependency(i: Instruction) -> str:
    action = i.take("wait", "launch_dependents")
    i.done(0)
    if action is None:
        raise NotEmulated(i.name)
    return f"::fictl_emu_depend{'encies_wait' if action == 'wait' else 'ents_launch'}();"
