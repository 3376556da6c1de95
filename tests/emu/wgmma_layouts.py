"""Layouts of wgmma's operands as the PTX manual has them: an oracle that shares no code with the device."""

from __future__ import annotations

from dataclasses import dataclass

import torch

_CODES = {16: 0, 128: 1, 64: 2, 32: 3}
BYTES = 32  # of one row of an operand, for every type


@dataclass(frozen=True)
class Layout:
    """Where an operand's elements are. width: of the swizzled rows; 16: not swizzled."""

    width: int
    k_major: bool
    leading: int
    stride: int

    def __str__(self) -> str:
        return f"{'k' if self.k_major else 'mn'}-{self.width}-{self.leading}-{self.stride}"

    def descriptor(self, start: int) -> int:
        fields = (start >> 4) | (self.leading >> 4) << 16 | (self.stride >> 4) << 32
        return fields | _CODES[self.width] << 62

    def offset(self, start: int, row: int, byte: int) -> int:
        """Return the address of byte `byte` of row `row` (of A, or column of B)."""
        address = start + (self._k_major if self.k_major else self._mn_major)(row, byte)
        if self.width == 16:
            return address
        chunk = {128: 7, 64: 3, 32: 1}[self.width]
        return address ^ (((address >> 7) & chunk) << 4)

    def _k_major(self, row: int, byte: int) -> int:
        rows = row % 8 * self.width + row // 8 * self.stride
        return rows + (byte % 16 + byte // 16 * self.leading if self.width == 16 else byte)

    def _mn_major(self, row: int, byte: int) -> int:
        k, within = divmod(byte, 2)
        if self.width == 16:
            eights = row // 8 * self.stride + k // 8 * self.leading
            return eights + row % 8 * 2 + k % 8 * 16 + within
        per_row = self.width // 2
        across = row % per_row * 2 + row // per_row * self.leading
        return across + k % 8 * self.width + k // 8 * self.stride + within


def write(image: torch.Tensor, rows: torch.Tensor, layout: Layout, start: int) -> None:
    """Put the bytes of an operand, 32 for each row, into an image of shared memory."""
    count = rows.shape[0]
    offsets = [layout.offset(start, row, byte) for row in range(count) for byte in range(BYTES)]
    assert len(set(offsets)) == len(offsets)
    image[torch.tensor(offsets)] = rows.flatten()


def accumulators(matrix: torch.Tensor) -> torch.Tensor:
    """Return the registers of the 128 threads for 64 rows of N columns, thread by thread."""
    columns = matrix.shape[1]
    threads = []
    for thread in range(128):
        row, column = thread // 32 * 16 + thread % 32 // 4, thread % 4 * 2
        block = [
            matrix[row + below, 8 * j + column : 8 * j + column + 2]
            for j in range(columns // 8)
            for below in (0, 8)
        ]
        threads.append(torch.cat(block))
    return torch.stack(threads)


def matrix_of(registers: torch.Tensor) -> torch.Tensor:
    """Return the 64 rows whose accumulators these are."""
    columns = registers.shape[1] * 2
    numbers = accumulators(torch.arange(64 * columns).reshape(64, columns))
    matrix = torch.empty(64 * columns, dtype=registers.dtype)
    matrix[numbers.flatten()] = registers.flatten()
    return matrix.reshape(64, columns)


def fragments(rows: torch.Tensor) -> torch.Tensor:
    """Return the registers of A, four a thread, from its 64 rows of 32 bytes."""
    words = rows.contiguous().view(torch.int32)
    threads = []
    for thread in range(128):
        row, word = thread // 32 * 16 + thread % 32 // 4, thread % 4
        threads.append([words[row + 8 * (r % 2), word + 4 * (r // 2)] for r in range(4)])
    return torch.tensor(threads, dtype=torch.int32)
