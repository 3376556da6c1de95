"""Remarks of ptxas that fail a build: the code is right, and runs at a fraction of its speed."""

from __future__ import annotations

import re
from collections.abc import Collection

from fictl.errors import InvalidValue
from fictl.toolchain.ptxas import Remark

ANY = "any"

# C7505 to C7509: setmaxnreg is ignored. C7510 to C7521: wgmma is serialised, or ptxas adds a fence or
# a wait of its own. By words too, as other releases may number them otherwise.
_CODE = re.compile(r"C75(?:0[5-9]|1\d|2[01])")
_WORDS = re.compile(
    r"'setmaxnreg' ignored|wgmma\.mma_async instructions are serialized|warpgroup\.\w+ is injected"
)
# Words of a remark -> the cure. The first match counts.
_CURES = (
    (
        r"unable to determine register count",
        "the kernel needs __launch_bounds__(THREADS, 1): with the 1, ptxas knows the registers at entry",
    ),
    (
        r"'setmaxnreg' ignored",
        "no calls that are not inlined, no -rdc and no -G in a kernel with setmaxnreg, and counts "
        "between 24 and 256",
    ),
    (
        r"[Ee]xtern calls|function boundary",
        "inline all that is called between the first wgmma and its wait: __forceinline__, and no "
        "printf or assert there",
    ),
    (
        r"insufficient register",
        "the accumulators in flight do not fit, or code uses them too early: a smaller tile, more "
        "warpgroups, setmaxnreg.inc; no access to them before wgmma.wait_group",
    ),
    (
        r"defining input registers",
        "registers of A stay unwritten from the wgmma to its wgmma.wait_group: load the next A into "
        "others",
    ),
    (
        r"reading accumulator|defining accumulator|defined by GMMA",
        "accumulators stay untouched from the first wgmma to its wgmma.wait_group, on every path: wait "
        "outside the if, and issue the next block's product at the end of the loop's body",
    ),
    (
        r"ill formed",
        "the order on every path is wgmma.fence, wgmma.mma_async, commit_group, wait_group",
    ),
    (
        r"divergent path",
        "issue and wait where all four warps pass: conditions that are uniform in the warpgroup, by "
        "__shfl_sync(~0u, x, 0)",
    ),
    (
        r"use of registers in GMMA",
        "wgmma.fence before the first wgmma, and again after other code has written accumulators or A",
    ),
)


def is_refused(remark: Remark, allowed: Collection[str]) -> bool:
    if ANY in allowed or remark.code in allowed:
        return False
    return bool(_CODE.fullmatch(remark.code) or _WORDS.search(remark.text))


def is_lesser(remark: Remark) -> bool:
    """True for a fence or a wait that ptxas adds: it may explain another remark, which comes first."""
    return "is injected" in remark.text


def cure(remark: Remark) -> str:
    return next((hint for words, hint in _CURES if re.search(words, remark.text)), "")


def checked_codes(codes: Collection[str]) -> tuple[str, ...]:
    """Return codes of remarks to allow; refuse text that is not one."""
    for code in codes:
        if isinstance(codes, str) or not re.fullmatch(rf"C\d{{4}}|{ANY}", str(code)):
            raise InvalidValue(
                f"allowed_remarks={codes!r} does not list numbers of ptxas", "write ('C7519',)"
            )
    return tuple(codes)


def checked_bytes(count: object) -> int | None:
    """Return the limit on spills, None without one."""
    if count is None:
        return None
    if isinstance(count, bool) or not isinstance(count, int) or count < 0:
        raise InvalidValue(f"max_spill_bytes={count!r} is not a number of bytes", "write 0")
    return count
