"""Interface that communicators of engines declare, and layouts of quantized sums' scales."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from fictl.compat.flashinfer._numbers import round_up

__all__ = ["CommBackend", "QuantizationSFLayout", "compute_fp4_swizzled_layout_sf_size"]


@runtime_checkable
class CommBackend(Protocol):
    """Collectives of a group of processes, by the names of mpi4py; fictl calls none of them."""

    def Get_rank(self) -> int: ...  # noqa: N802
    def Get_size(self) -> int: ...  # noqa: N802
    def allgather(self, data: Any) -> tuple[Any, ...]: ...
    def bcast(self, data: Any, root: int) -> Any: ...
    def barrier(self) -> None: ...
    def Split(self, color: int, key: int) -> CommBackend: ...  # noqa: N802


class QuantizationSFLayout:
    """Layouts of the scales of blocks, as SfLayout numbers them."""

    SWIZZLED_128x4 = 0
    SWIZZLED_8x4 = 1
    LINEAR = 2


def compute_fp4_swizzled_layout_sf_size(total_row: int, total_column: int) -> int:
    """Return the scales in SWIZZLED_128x4, with those of its padding."""
    return round_up(total_row, 128) * round_up(total_column, 4)
