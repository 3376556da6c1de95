"""Thresholds above which a number means something, each with its reason."""

from __future__ import annotations

# Percent of a unit's peak. Below it in memory and compute alike ncu, too, speaks of latency.
BUSY = 60.0
# Percent of a unit's peak: what good kernels reach; beyond it only less work makes them faster.
NEAR_PEAK = 80.0
# Points between memory and compute within which neither can be called the limit alone.
CLOSE = 10.0
# Points by which the unit that is named may lie below what memory reaches as a whole.
SAME = 5.0

# Percent of the time between two instructions of a warp: what is less is not worth an edit.
STALL = 5.0
STALLS = 3
# Percent of a kernel's samples: a line below it is one of many.
LINE = 5.0
LINES = 5

# Points of occupancy that are achieved less than the launch allows: usual are 5 to 10.
OCCUPANCY_LOST = 15.0
# Percent of the warps that an SM holds: with half of them most kernels hide their latency.
OCCUPANCY_ENOUGH = 50.0

# Percent of the bytes moved that are used. Unaligned rows cost a few, strides most of them.
COALESCED = 80.0
# Sectors of 32 bytes a request, where each thread loads 4 bytes; 16-byte vectors have 16.
NARROW = 4.5
# Requests below which narrow accesses are no subject: less than one a scheduler of a large GPU.
FEW_REQUESTS = 500.0
# Percent of the passes through shared memory that conflicts add. ncu counts some for any access.
CONFLICTS = 10.0

# Percent of the whole that the last, part-filled wave of blocks leaves idle.
TAIL = 10.0
# Of the 32 lanes of a warp, those that work in an instruction: predicates at edges cost 2 to 4.
LANES = 26.0
# Seconds: launch, first loads and the last blocks are most of a shorter kernel.
SHORT = 5e-6

# Percent of all kernels' time below which one has a line and no digest.
MINOR = 2.0
RULES = 3
