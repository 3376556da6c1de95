"""The model of waves: which tactic computes a product soonest.

A kernel's blocks run in waves, as many at once as its tiles find room on the SMs. A wave takes as
long as the products of its tiles, or as reading their operands, whichever is more; all of them take
at least as long as memory needs for the operands. The estimate is in clocks, and only its order
matters.
"""

from __future__ import annotations

from collections.abc import Iterator

from ._tactics import (
    DRAM_BYTES_A_CLOCK,
    FLOPS_A_CLOCK,
    L2_BYTES_A_CLOCK,
    LEAST_K,
    SUM_CLOCKS,
    TACTICS,
    TILE_CLOCKS,
    Known,
    Tactic,
)

_ITEMSIZE = 2
_MOST = 16384
_chosen: dict[tuple[object, ...], Tactic] = {}


def choose(
    backend: str, asked: Tactic | None, sms: int, batch: int, m: int, n: int, k: int
) -> Tactic:
    """Choose for a shape, among all of a backend or, with `asked`, its parts; it is remembered.

    The rows of a are rounded up to what no tile tells apart, so that a server that meets every
    number of tokens asks the model some hundred times.
    """
    m = -(-m // 8) * 8 if m <= 64 else -(-m // 64) * 64
    key = (backend, asked, sms, batch, m, n, k)
    tactic = _chosen.get(key)
    if tactic is None:
        if len(_chosen) >= _MOST:
            _chosen.clear()
        known = TACTICS[backend] if asked is None else (Known(asked, 1.0),)
        tactic = soonest(known, FLOPS_A_CLOCK[backend], sms, batch, m, n, k)
        _chosen[key] = tactic
    return tactic


def soonest(
    known: tuple[Known, ...], flops: int, sms: int, batch: int, m: int, n: int, k: int
) -> Tactic:
    """Return the tactic of the least estimate, with its parts of k; the first of equals."""
    least, best = float("inf"), known[0].tactic
    dram = batch * (m * k + n * k + m * n) * _ITEMSIZE / DRAM_BYTES_A_CLOCK
    for row in known:
        tile_m, tile_n, _, cluster, swap, asked = row.tactic
        rows, columns = (n, m) if swap else (m, n)
        tiles = batch * -(-rows // tile_m) * -(-columns // tile_n)
        slots = max(sms // cluster * cluster * row.blocks, 1)
        for parts in (asked,) if asked else _parts(tiles, slots, k):
            clocks = max(_clocks(row, flops, sms, tiles * parts, slots, -(-k // parts)), dram)
            if parts > 1:
                clocks += SUM_CLOCKS + parts * batch * m * n * 8 / DRAM_BYTES_A_CLOCK
            if clocks < least:
                least, best = clocks, row.tactic._replace(parts=parts)
    return best


def _parts(tiles: int, slots: int, k: int) -> Iterator[int]:
    """Yield numbers of parts that are worth a look: one, and those that fill a wave or half."""
    yield 1
    most = min(slots // max(tiles, 1), k // LEAST_K)
    if most > 2:
        yield most // 2
    if most > 1:
        yield most


def _clocks(row: Known, flops: int, sms: int, blocks: int, slots: int, k: int) -> float:
    """Estimate the clocks of all waves of blocks that have `k` products an element each."""
    tile_m, tile_n = row.tactic.tile_m, row.tactic.tile_n
    sharing = min(row.blocks, -(-blocks // sms))  # blocks of an SM at a time
    products = 2 * tile_m * tile_n * k / (flops * row.efficiency)
    reading = (tile_m + tile_n) * k * _ITEMSIZE / L2_BYTES_A_CLOCK
    waves = -(-blocks // slots)
    return waves * (max(products, reading) * sharing + TILE_CLOCKS)
