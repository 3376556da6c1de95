"""Arithmetic that code around kernels needs."""

from __future__ import annotations

import math
import re

__all__ = [
    "ceil_div",
    "get_trtllm_gen_multi_ctas_kv_counter_bytes",
    "last_positive_power_of_2",
    "ln2",
    "log2e",
    "next_positive_power_of_2",
    "round_up",
    "version_at_least",
]

log2e = math.log2(math.e)
ln2 = math.log(2)


def ceil_div(x: int, y: int) -> int:
    return -(-x // y)


def round_up(x: int, y: int) -> int:
    """Smallest multiple of `y` that is not below `x`."""
    return ceil_div(x, y) * y


def next_positive_power_of_2(x: int) -> int:
    """Smallest power of two that is not below `x`."""
    return 1 if x < 1 else 1 << (x - 1).bit_length()


def last_positive_power_of_2(x: int) -> int:
    """Largest power of two that is not above `x`; 0 if `x` is 0 or less."""
    return 1 << (x.bit_length() - 1) if x > 0 else 0


def get_trtllm_gen_multi_ctas_kv_counter_bytes(
    batch_size: int, num_qo_heads: int, sm_count: int
) -> int:
    """Bytes of a decode's counters: one of 4 for each head of a request, or each multiprocessor."""
    return 4 * round_up(max(batch_size * num_qo_heads, sm_count), 8)


def version_at_least(version: str, base_version: str) -> bool:
    """Compare versions by number: 12.10 is above 12.9, and 12.9.0 equals 12.9."""
    return _numbers(version) >= _numbers(base_version)


def _numbers(version: str) -> list[int]:
    numbers = [int(number) for number in re.findall(r"\d+", version.partition("+")[0])]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return numbers
