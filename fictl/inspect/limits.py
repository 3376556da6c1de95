"""Limits of an SM of each architecture, to compute occupancy without a GPU.

CUDA C++ Programming Guide, Compute Capabilities, table "Technical Specifications"; for named
barriers and shared memory granularity, which it omits, cuda_occupancy.h of the toolkit.
"""

from __future__ import annotations

from fictl.arch import Arch
from fictl.toolchain.occupancy import SmLimits

_KIB = 1024
_REGISTERS = 64 * _KIB

# compute capability: threads, blocks, KiB of shared memory, named barriers
_SM = {
    "7.5": (1024, 16, 64, 0),
    "8.0": (2048, 32, 164, 0),
    "8.6": (1536, 16, 100, 0),
    "8.7": (1536, 16, 164, 0),
    "8.9": (1536, 24, 100, 0),
    "9.0": (2048, 32, 228, 64),
    "10.0": (2048, 32, 228, 64),
    "10.3": (2048, 32, 228, 64),
    "11.0": (1536, 24, 228, 24),
    "12.0": (1536, 24, 100, 24),
    "12.1": (1536, 24, 100, 24),
}


def limits_of(arch: Arch) -> SmLimits | None:
    """Limits of an architecture; None if it is not in the table."""
    row = _SM.get(str(arch.plain))
    if row is None:
        return None
    threads, blocks, shared, barriers = row
    since_ampere = arch.major >= 8
    return SmLimits(
        threads,
        blocks,
        _REGISTERS,
        shared * _KIB,
        reserved_shared=_KIB if since_ampere else 0,
        shared_piece=128 if since_ampere else 256,
        barriers=barriers,
    )
