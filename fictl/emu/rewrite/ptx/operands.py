"""Translates operands of PTX instructions to C++: registers, constants, addresses."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from fictl.emu.rewrite.scan import Malformed, split

P = "::fictl_emu::ptx::"

TYPES = {
    "pred": "bool",
    **{f"{kind}8": "uint8_t" for kind in ("b", "u")},
    **{f"{kind}{width}": f"uint{width}_t" for kind in ("b", "u") for width in (16, 32, 64)},
    **{f"s{width}": f"int{width}_t" for width in (8, 16, 32, 64)},
    "b128": "unsigned __int128",
    "f32": "float",
    "f64": "double",
    "f16": f"{P}Half",
    "bf16": f"{P}BFloat16",
    "tf32": f"{P}Tf32",
    "f16x2": f"{P}Pair<{P}Half>",
    "bf16x2": f"{P}Pair<{P}BFloat16>",
    "e4m3x2": f"{P}Pair<{P}E4M3>",
    "e5m2x2": f"{P}Pair<{P}E5M2>",
}
# A declared register of such a type holds its raw bits.
_AS_BITS = {"f16": "b16", "bf16": "b16", "f16x2": "b32", "bf16x2": "b32", "tf32": "b32"}

_SPECIAL = {
    **{
        f"{name}.{axis}": f"::{variable}.{axis}"
        for name, variable in (
            ("tid", "threadIdx"),
            ("ntid", "blockDim"),
            ("ctaid", "blockIdx"),
            ("nctaid", "gridDim"),
        )
        for axis in "xyz"
    },
    **{
        f"{name}.{axis}": f"::fictl_emu_cluster().{member}.{axis}"
        for name, member in (
            ("clusterid", "index"),
            ("nclusterid", "count"),
            ("cluster_ctaid", "block"),
            ("cluster_nctaid", "shape"),
        )
        for axis in "xyz"
    },
    "cluster_ctarank": "::fictl_emu_cluster().rank",
    "cluster_nctarank": "::fictl_emu_cluster().blocks",
    "is_explicit_cluster": "(::fictl_emu_cluster().is_explicit != 0)",
    "laneid": f"{P}lane()",
    "warpid": "::fictl_emu_registers.warp",
    "nwarpid": f"{P}warps()",
    "smid": "0u",
    "nsmid": "1u",
    "gridid": "0u",
    "lanemask_eq": f"({P}lanes_below() + 1)",
    "lanemask_lt": f"{P}lanes_below()",
    "lanemask_le": f"{P}lanes_up_to()",
    "lanemask_gt": f"(~{P}lanes_up_to())",
    "lanemask_ge": f"(~{P}lanes_below())",
    "clock": f"static_cast<uint32_t>({P}nanoseconds())",
    "clock_hi": f"static_cast<uint32_t>({P}nanoseconds() >> 32)",
    "clock64": f"{P}nanoseconds()",
    "globaltimer": f"{P}nanoseconds()",
    "globaltimer_lo": f"static_cast<uint32_t>({P}nanoseconds())",
    "globaltimer_hi": f"static_cast<uint32_t>({P}nanoseconds() >> 32)",
}

_REFERENCE = re.compile(r"%(?:(\d+)|\[(\w+)\])")
_INTEGER = re.compile(r"[-+]?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)U?")
_BINARY_FLOAT = re.compile(r"0[fF]([0-9a-fA-F]{8})|0[dD]([0-9a-fA-F]{16})")
_FLOAT = re.compile(r"[-+]?(?:\d+\.\d*|\.?\d+)(?:[eE][-+]?\d+)?")
_ADDRESS = re.compile(r"\[\s*([^\s+\-\]]+)\s*(?:([+-])\s*([^\]]+?)\s*)?\]")


class NotEmulated(Exception):
    """Raised for an instruction or an operand that the emulated device does not support."""


@dataclass
class Names:
    """Meanings of the names in one asm statement."""

    operands: int  # their number
    named: dict[str, int] = field(default_factory=dict)  # %[name] -> its number
    scopes: list[dict[str, str]] = field(default_factory=list)  # register -> type, innermost last
    labels: str = ""  # prefix that makes labels unique

    def value(self, text: str) -> str:
        """Return the C++ expression of a register or a constant."""
        if text.startswith("!"):
            return f"!{self.value(text[1:].strip())}"
        if text == "_":
            return f"{P}Sink{{}}"
        if text == "WARP_SZ":
            return "32"
        reference = _REFERENCE.fullmatch(text)
        if reference is not None:
            return f"fictl_emu_{self._number(reference)}"
        name = text.lstrip("%")
        if self.type_of(text) is not None:
            return register(text)
        if name in _SPECIAL:
            return _SPECIAL[name]
        return _constant(text)

    def operand_number(self, text: str) -> int | None:
        """Return the number of an operand of the statement; None for what is none."""
        reference = _REFERENCE.fullmatch(text)
        return None if reference is None else self._number(reference)

    def type_of(self, text: str) -> str | None:
        """Return the type of a register declared in the statement; None for others."""
        return next((scope[text] for scope in reversed(self.scopes) if text in scope), None)

    def _number(self, reference: re.Match[str]) -> int:
        if reference[2] is not None:
            if reference[2] not in self.named:
                raise Malformed(0, f"inline PTX has no operand {reference[0]}")
            return self.named[reference[2]]
        if int(reference[1]) >= self.operands:
            raise Malformed(
                0, f"inline PTX uses operand {reference[0]}, but the statement has {self.operands}"
            )
        return int(reference[1])


def register(name: str) -> str:
    """Return the C++ variable of a register declared in the statement."""
    return "fictl_emu_r_" + re.sub(r"\W", "_", name)


def register_type(type_: str) -> str:
    cpp = TYPES.get(_AS_BITS.get(type_, type_))
    if cpp is None:
        raise NotEmulated(f"registers of type .{type_}")
    return cpp


def vector(text: str) -> list[str]:
    """Return the parts of `{a, b}`; a plain register is a vector of one."""
    if not text.startswith("{"):
        return [text]
    return [part.strip() for part in split(text[1:-1], ",")]


def halves(text: str) -> tuple[str, str]:
    """Return the two destinations of `d|p`; "_" for a missing second."""
    first, _, second = text.partition("|")
    return first.strip(), second.strip() or "_"


def base_and_offset(text: str) -> tuple[str, str]:
    """Split `[register + offset]` into the register and the signed offset."""
    match = _ADDRESS.fullmatch(text)
    if match is None:
        raise NotEmulated(f"the address {text}")
    return match[1], f"{match[2]}{match[3]}".lstrip("+") if match[2] else "0"


def _constant(text: str) -> str:
    exact = _BINARY_FLOAT.fullmatch(text)
    if exact is not None:
        width, code = ("float", f"0x{exact[1]}u") if exact[1] else ("double", f"0x{exact[2]}ull")
        return f"{P}bits<{width}>({code})"
    if _INTEGER.fullmatch(text):
        return text
    if _FLOAT.fullmatch(text):
        return text
    raise NotEmulated(f"the operand {text}")
