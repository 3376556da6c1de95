"""The model of waves: which tactic computes a product soonest.

A kernel's blocks run in waves, as many at once as its tiles find room on the SMs. A wave takes as
long as the products of its tiles, or as reading their operands, whichever is more; all of them take
at least as long as memory needs for the operands. The estimate is in clocks, and only its order
matters.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ._tactics import (
    DRAM_BYTES_A_CLOCK,
    FLOPS_A_CLOCK,
    HEAVY_CLOCKS,
    L2_BYTES_A_CLOCK,
    LEAST_K,
    MEET_CLOCKS,
    MEETING_CLOCKS,
    PART_CLOCKS,
    SUM_CLOCKS,
    TACTICS,
    TILE_CLOCKS,
    WAIT_CLOCKS,
    Known,
    Tactic,
)

_ITEMSIZE = 2
_SHARE = 0.05
_BYTES_A_SUM = 8  # fp32, written and read
_MOST = 16384
_chosen: dict[tuple[object, ...], Tactic] = {}
_prepared_rows: dict[tuple[str, int], tuple[_Row, ...]] = {}
_LEAST_SWAPPED = 8


class _Row(NamedTuple):
    """A tactic with what an estimate needs of it, computed beforehand: a model has microseconds.

    tail: whether k is divided of those tiles alone that do not fill a round of the SMs.
    shows: whether nothing is multiplied while a tile's outputs are computed and stored.
    clocks_a_k: of a block's products, or of reading their operands, for each k.
    """

    tactic: Tactic
    rows: int
    columns: int
    cluster: int
    swap: bool
    parts: int
    blocks: int
    tail: bool
    shows: bool
    cluster_k: int
    clocks_a_k: float


def choose(
    backend: str,
    asked: Tactic | None,
    sms: int,
    batch: int,
    m: int,
    n: int,
    k: int,
    *,
    heavy: bool = False,
) -> Tactic:
    """Choose for a shape, among all of a backend or, with `asked`, its parts; it is remembered.

    heavy: the sums become outputs by more than rounding: an activation, a bias or c.

    The rows of a are rounded up to what no tile tells apart, so that a server that meets every
    number of tokens asks the model some hundred times.
    """
    m = -(-m // 8) * 8 if m <= 64 else -(-m // 64) * 64
    key = (backend, asked, sms, batch, m, n, k, heavy)
    tactic = _chosen.get(key)
    if tactic is None:
        if len(_chosen) >= _MOST:
            _chosen.clear()
        tactic = _chosen[key] = soonest(_rows(backend, asked, m), sms, batch, m, n, k, heavy=heavy)
    return tactic


def prepared(known: Iterable[Known], flops: int) -> tuple[_Row, ...]:
    """Prepare tactics for SMs with so many floating-point operations a clock."""
    return tuple(_prepared(row, flops) for row in known)


def soonest(
    rows: Iterable[_Row],
    sms: int,
    batch: int,
    m: int,
    n: int,
    k: int,
    *,
    heavy: bool = False,
) -> Tactic:
    """Return the tactic of the least estimate, with its parts of k; the first of equals."""
    least, best, best_parts = float("inf"), Tactic(), 1
    memory = batch * (m * k + n * k + m * n) * _ITEMSIZE / DRAM_BYTES_A_CLOCK
    for row in rows:
        tactic, tile_rows, tile_columns, cluster, swap, asked, blocks, tail, shows = row[:9]
        cluster_k, clocks_a_k = row.cluster_k, row.clocks_a_k
        tile_clocks = TILE_CLOCKS + HEAVY_CLOCKS if shows and heavy else TILE_CLOCKS
        if cluster_k > 1:
            tile_clocks += MEET_CLOCKS + cluster_k * MEETING_CLOCKS
        height, width = (n, m) if swap else (m, n)
        # A cluster has whole tiles, side by side.
        tiles = batch * cluster * -(-height // (tile_rows * cluster)) * -(-width // tile_columns)
        slots = max(sms // (cluster * cluster_k) * cluster * blocks, 1)
        rest = tiles % slots if tail else tiles
        for parts in (asked,) if asked else _parts(rest or slots, slots, k):
            whole = tiles - rest if parts > 1 else 0  # rounds of tiles that are not divided
            running = (tiles - whole) * parts
            sharing = blocks if running >= blocks * sms else -(-running // sms)  # of one SM
            wave = -(-k // (parts * cluster_k)) * clocks_a_k * sharing + tile_clocks
            waves = -(-running // slots) * wave
            if whole:
                waves += whole // slots * (k * clocks_a_k * blocks + tile_clocks)
            # Why a share of the waves: where memory decides, the tactic with less to do is sooner.
            clocks = max(waves, memory) + _SHARE * waves
            if parts > 1:
                written = running * tile_rows * tile_columns
                clocks += written * _BYTES_A_SUM / DRAM_BYTES_A_CLOCK
                clocks += WAIT_CLOCKS + parts * PART_CLOCKS if tail else SUM_CLOCKS
            if clocks < least:
                least, best, best_parts = clocks, tactic, parts
    return best._replace(parts=best_parts)


def _rows(backend: str, asked: Tactic | None, m: int) -> tuple[_Row, ...]:
    """Return the candidates: of swapped tactics, those that m fills without a second tile."""
    if asked is not None:
        return prepared([Known(asked, 1.0)], FLOPS_A_CLOCK[backend])
    swapped = max(1 << (m - 1).bit_length(), _LEAST_SWAPPED) if m > 0 else _LEAST_SWAPPED
    rows = _prepared_rows.get((backend, swapped))
    if rows is None:
        rows = prepared(
            (
                known
                for known in TACTICS[backend]
                if not known.tactic.swap or known.tactic.tile_n == swapped
            ),
            FLOPS_A_CLOCK[backend],
        )
        _prepared_rows[backend, swapped] = rows
    return rows


def _prepared(row: Known, flops: int) -> _Row:
    tactic = row.tactic
    tile_m, tile_n = tactic.tile_m, tactic.tile_n
    products = 2 * tile_m * tile_n / (flops * row.efficiency)
    reading = (tile_m + tile_n) * _ITEMSIZE / L2_BYTES_A_CLOCK
    cluster = tactic.cluster * tactic.cluster_n
    parts = tactic.parts if tactic.cluster_k == 1 else 1
    return _Row(
        tactic,
        tile_m,
        tile_n,
        cluster,
        tactic.swap,
        parts,
        row.blocks,
        tactic.schedule != "mma",
        tactic.schedule == "cooperative",
        tactic.cluster_k,
        max(products, reading),
    )


def _parts(tiles: int, slots: int, k: int) -> tuple[int, ...]:
    """Return numbers of parts that are worth a look: one, and those that fill a wave or half."""
    most = min(slots // max(tiles, 1), k // LEAST_K)
    if most <= 1:
        return (1,)
    return (1, most) if most == 2 else (1, most // 2, most)
