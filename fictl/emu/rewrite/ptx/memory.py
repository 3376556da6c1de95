"""Translations of loads, stores, atomics, asynchronous copies, fences and hints."""

from __future__ import annotations

from fictl.emu.rewrite.ptx.instruction import Instruction, emulates
from fictl.emu.rewrite.ptx.operands import TYPES, NotEmulated, P

_SPACES = (
    "global",
    "shared",
    "shared::cta",
    "shared::cluster",
    "local",
    "const",
    "param",
)
_SCOPES = {"cta": "BLOCK", "cluster": "DEVICE", "gpu": "DEVICE", "sys": "SYSTEM"}
_CACHES = ("ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc", "unified", "weak")
_VECTORS = {"v2": 2, "v4": 4, "v8": 8}
_ORDERINGS = {
    "volatile": "_volatile",
    "relaxed": "_relaxed",
    "acquire": "_acquire",
    "release": "_release",
}


def _space(i: Instruction) -> str:
    return i.take(*_SPACES) or "generic"


def _skip_hints(i: Instruction) -> None:
    i.ignore(*_CACHES)
    i.ignore(prefix="L1::")
    i.ignore(prefix="L2::")


def _ordering(i: Instruction) -> str:
    """Return the suffix of the functions for the memory order."""
    i.ignore("mmio")  # always with .relaxed
    ordering = i.take(*_ORDERINGS)
    i.take(*_SCOPES)
    return _ORDERINGS[ordering] if ordering else ""


def _at(address: str, type_: str, index: int) -> str:
    return f"{address} + {index} * sizeof({type_})" if index else address


@emulates("ld", "ldu", "ld.nc")
def load(i: Instruction) -> str:
    type_ = TYPES[i.type()]
    count = _VECTORS.get(i.take(*_VECTORS) or "", 1)
    space, ordering = _space(i), _ordering(i)
    _skip_hints(i)
    i.done(2, 3)
    parts, address = i.parts(0), i.address(1, space)
    _require(i, parts, count)
    if ordering:
        # Other threads run when all parts of a vector are there.
        loads = (
            i.assign(part, f"{P}load{ordering}<{type_}>({_at(address, type_, index)})")
            for index, part in enumerate(parts)
        )
        return " ".join([*loads, f"{P}after_spin();"])
    if count == 1:
        return i.assign(parts[0], f"{P}load<{type_}>({address})")
    assigned = " ".join(
        i.assign(part, f"fictl_emu_v.items[{index}]") for index, part in enumerate(parts)
    )
    whole = f"{P}load<{P}Vector<{type_}, {count}>>({address})"
    return f"{{ const auto fictl_emu_v = {whole}; {assigned} }}"


@emulates("st")
def store(i: Instruction) -> str:
    named = i.type()
    type_ = TYPES[named]
    count = _VECTORS.get(i.take(*_VECTORS) or "", 1)
    space, ordering = _space(i), _ordering(i)
    _skip_hints(i)
    i.done(2, 3)
    parts, address = i.parts(1), i.address(0, space)
    _require(i, parts, count)
    values = [i.cast(part, named) for part in parts]
    if not ordering and count > 1:
        vector = f"{P}Vector<{type_}, {count}>"
        return f"{P}store({address}, {vector}{{{{{', '.join(values)}}}}});"
    return " ".join(
        f"{P}store{ordering}({_at(address, type_, index)}, {value});"
        for index, value in enumerate(values)
    )


def _require(i: Instruction, parts: list[str], count: int) -> None:
    if len(parts) != count:
        raise NotEmulated(f"{len(parts)} registers for {count}")


_CHANGES = {
    "add": "add",
    "min": "min",
    "max": "max",
    "and": "and_",
    "or": "or_",
    "xor": "xor_",
    "inc": "wrapping_inc",
    "dec": "wrapping_dec",
}


@emulates("atom", "red")
def atomic(i: Instruction) -> str:
    named = i.type()
    if named == "b128":
        raise NotEmulated(".b128")
    i.take(*_VECTORS)
    space = _space(i)
    i.ignore("relaxed", "acquire", "release", "acq_rel", *_SCOPES, "noftz")
    _skip_hints(i)
    operation = i.take(*_CHANGES, "exch", "cas")
    shift = 1 if i.name == "atom" else 0  # red has no destination
    minimum = 2 + shift + (operation == "cas")
    i.done(minimum, minimum + 1)
    address = i.address(shift, space)
    results = []
    for index, part in enumerate(i.parts(1 + shift)):
        place, given = _at(address, TYPES[named], index), i.cast(part, named)
        if operation in _CHANGES:
            change = f"return {P}{_CHANGES[operation]}(fictl_emu_x, {given});"
            value = f"{P}atomically<{TYPES[named]}>({place}, [&](auto fictl_emu_x) {{ {change} }})"
        elif operation == "exch":
            value = f"{P}atomic_exch({place}, {given})"
        elif operation == "cas":
            value = f"{P}atomic_cas({place}, {given}, {i.get(2 + shift, named)})"
        else:
            raise NotEmulated(i.name)
        results.append(value)
    if not shift:
        return " ".join(f"{value};" for value in results)
    return " ".join(i.assign(part, value) for part, value in zip(i.parts(0), results, strict=True))


# ---- cp.async ----


@emulates("cp.async")
def copy_async(i: Instruction) -> str:
    if i.take("ca", "cg") is None or i.take("shared", "shared::cta") is None:
        raise NotEmulated("cp.async")
    hinted = "L2::cache_hint" in i.modifiers
    i.ignore("global")
    _skip_hints(i)
    i.done(*((4, 5) if hinted else (3, 4)))
    if hinted:
        i.operands = i.operands[:-1]
    size = source = i.get(2, "u32")
    if len(i.operands) == 4:
        # The fourth operand is the number of bytes to read, or a predicate that disables the read.
        ignored = i.names.type_of(i.operand(3).lstrip("! ")) == "pred"
        source = f"{i.value(3)} ? 0u : {size}" if ignored else i.get(3, "u32")
    return f"{P}copy_async({i.address(0, 'shared')}, {i.address(1, 'global')}, {size}, {source});"


@emulates("cp.async.commit_group")
def commit_group(i: Instruction) -> str:
    i.done(0)
    return "::fictl_emu_copy_commit();"


@emulates("cp.async.wait_group")
def wait_group(i: Instruction) -> str:
    i.done(1)
    return f"::fictl_emu_copy_wait({i.get(0, 's32')});"


@emulates("cp.async.wait_all")
def wait_all(i: Instruction) -> str:
    i.done(0)
    return "::fictl_emu_copy_wait(-1);"


# ---- fences, hints ----


@emulates("membar", "fence")
def fence(i: Instruction) -> str:
    i.ignore("sc", "acq_rel", "acquire", "release")
    scopes = _SCOPES | {"gl": "DEVICE"}
    scope = i.take(*scopes)
    i.done(0)
    if scope is None:
        raise NotEmulated(i.name)
    return f"::fictl_emu_fence(FICTL_EMU_{scopes[scope]});"


@emulates("prefetch", "prefetchu", "discard", "applypriority", "fence.proxy")
def hint(i: Instruction) -> str:
    """Emit nothing for a hint: memory is coherent here."""
    return ""


@emulates("createpolicy")
def policy(i: Instruction) -> str:
    return i.set(0, "uint64_t{0}")


@emulates("isspacep")
def is_in_space(i: Instruction) -> str:
    space = i.take(*_SPACES)
    i.done(2)
    number = {
        "shared": "SHARED",
        "shared::cta": "SHARED",
        "shared::cluster": "PEER",
        "local": "LOCAL",
        "global": "GLOBAL",
    }
    if space not in number:
        raise NotEmulated(f".{space}")
    return i.set(0, f"{P}is_in(FICTL_EMU_{number[space]}, {i.get(1, 'u64')})")
