"""Thresholds above which a number means something, each with its reason."""

from __future__ import annotations

# Percent of a unit's peak. If memory and compute are both below it, ncu also reports latency.
BUSY = 60.0
# Percent of its peak from which the tensor pipe is what a kernel is about.
WORKING = 20.0
# Percent of a unit's peak that good kernels reach; beyond it only less work makes them faster.
NEAR_PEAK = 80.0
# Points between memory and compute within which neither alone is the limit.
CLOSE = 10.0
# Points by which the named unit may be below the overall memory throughput.
SAME = 5.0

# Percent of the time between two instructions of a warp: smaller stalls are not worth an edit.
STALL = 5.0
STALLS = 3
# Percent of a kernel's samples: a line below it is one of many.
LINE = 5.0
LINES = 5

# Points of occupancy achieved below what the launch allows: 5 to 10 are usual.
OCCUPANCY_LOST = 15.0
# Percent of the warps that an SM holds: with half of them, most kernels hide their latency.
OCCUPANCY_ENOUGH = 50.0

# Percent of the bytes moved that are used. Unaligned rows cost a few, strides most of them.
COALESCED = 80.0
# Sectors of 32 bytes a request, where each thread loads 4 bytes; 16-byte vectors have 16.
NARROW = 4.5
# Requests below which narrow accesses do not matter: less than one a scheduler of a large GPU.
FEW_REQUESTS = 500.0
# Percent of the passes through shared memory that conflicts add. ncu counts some for any access.
CONFLICTS = 10.0

# Percent of the whole that the last, part-filled wave of blocks leaves idle.
TAIL = 10.0
# Active lanes of the 32 in a warp, per instruction: predicates at edges cost 2 to 4.
LANES = 26.0
# Seconds: a shorter kernel is mostly launch, first loads and last blocks.
SHORT = 5e-6

# Percent of all kernels' time below which a kernel gets a line and no digest.
MINOR = 2.0
RULES = 3
