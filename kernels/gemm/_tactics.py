"""Tactics of matrix products: the tiles that kernels are built for, and how fast each is.

This table is the only place that names a tile. `_choice.py` picks from it for a call, `fictl tune`
tries all of a backend, and config.jinja hands a row's numbers to the kernel.
"""

from __future__ import annotations

from typing import NamedTuple


class Tactic(NamedTuple):
    """One way to compute a product; the default leaves the choice to the model of waves.

    tile_m, tile_n: the tile of D that a block computes; where operands are swapped, tile_m is of b's
        rows and tile_n of a's.
    schedule: "mma" of the sm80 backend; "cooperative" or "pingpong" of sm90, which say whether two
        groups of warps share a tile or take turns.
    cluster, cluster_n: blocks of a cluster along tile_m and along tile_n, which share the other
        operand's tile.
    cluster_k: blocks of a cluster that divide k, where that leaves no other part of it.
    swap: whether a and b are exchanged, so that few rows of a fill no tile by padding.
    panels: of 64 elements of k in a stage of sm90.
    group: rows of tiles that are computed together, for their operands to stay in L2.
    parts: how many parts k is split into, summed in their order; 0 leaves it to the model. For
        sm90, anything but 1 divides the tiles that do not fill a round of the SMs.
    """

    tile_m: int = 0
    tile_n: int = 0
    schedule: str = ""
    cluster: int = 1
    cluster_n: int = 1
    cluster_k: int = 1
    swap: bool = False
    panels: int = 1
    group: int = 16
    parts: int = 0


class Known(NamedTuple):
    """A tactic, and what the model of waves knows of it.

    efficiency: the share of the tensor cores' peak that a full wave reaches with long k.
    blocks: blocks that share an SM.
    """

    tactic: Tactic
    efficiency: float
    blocks: int = 1


SM80 = (
    Known(Tactic(128, 128, "mma"), 0.75),
    Known(Tactic(64, 64, "mma"), 0.55, blocks=3),
    Known(Tactic(16, 64, "mma"), 0.20, blocks=5),
)

# Measured on an H200, as shares of its peak at the clocks of a cool chip. Swapped ones are for few
# rows of a, whose number their tile_n is rounded up to.
SM90 = (
    Known(Tactic(128, 256, "cooperative"), 0.77),
    Known(Tactic(128, 256, "cooperative", cluster=2), 0.768),
    Known(Tactic(128, 128, "pingpong", cluster=2), 0.76),
    Known(Tactic(128, 128, "pingpong"), 0.755),
    Known(Tactic(128, 224, "cooperative"), 0.745),
    Known(Tactic(128, 192, "cooperative"), 0.72),
    Known(Tactic(128, 160, "cooperative"), 0.70),
    Known(Tactic(64, 128, "pingpong"), 0.55),
    Known(Tactic(128, 64, "cooperative"), 0.56),
    Known(Tactic(64, 64, "pingpong"), 0.40),
    *(Known(Tactic(64, 64, "pingpong", cluster_k=parts), 0.40) for parts in (4, 8)),
    *(
        Known(Tactic(64, tokens, "pingpong", swap=True, panels=panels, cluster_k=parts), 0.45)
        for tokens, panels in ((8, 4), (16, 4), (32, 2), (64, 2))
        for parts in (1, 2)
    ),
)

# The tactics of each backend that has kernels of ours.
TACTICS: dict[str, tuple[Known, ...]] = {"sm90": SM90, "sm80": SM80}

# FLOP a clock of an SM's tensor cores, by backend, and what memory gives: bytes a clock that an SM
# reads from L2, and that all of a GPU read from DRAM.
FLOPS_A_CLOCK = {"sm90": 4096, "sm80": 2048}
L2_BYTES_A_CLOCK = 64
DRAM_BYTES_A_CLOCK = 2400
# Clocks that a tile takes beside its products, to fill its stages and to store its outputs, and
# those of an activation, a bias or c beside them.
TILE_CLOCKS = 1500
HEAVY_CLOCKS = 6000
# Clocks of parts: of sm80 the second kernel that sums them up, of sm90 what the first worker of a
# tile waits for the others, and for each of them.
SUM_CLOCKS = 3500
WAIT_CLOCKS = 8400
PART_CLOCKS = 1100
# The same in a cluster, through shared memory.
MEET_CLOCKS = 1000
MEETING_CLOCKS = 1000
# The least k of a part.
LEAST_K = 256
