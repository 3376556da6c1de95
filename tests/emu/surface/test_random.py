"""cuRAND's Philox generator gives the numbers that its definition says."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

import pytest
import torch

from fictl.toolchain import find_headers

BLOCKS, THREADS, SEED = 2, 48, 0x123456789ABCDEF0


def has_curand() -> bool:
    headers = find_headers()
    return headers is not None and any(
        (folder / "curand_kernel.h").is_file() for folder in headers.include_dirs
    )


pytestmark = pytest.mark.skipif(not has_curand(), reason="these CUDA headers have no cuRAND")


def philox(counter: int, subsequence: int, seed: int) -> list[int]:
    """Philox 4x32-10 of Salmon and others."""
    words = [counter & 2**32 - 1, counter >> 32, subsequence & 2**32 - 1, subsequence >> 32]
    key = [seed & 2**32 - 1, seed >> 32]
    for _ in range(10):
        low, high = 0xD2511F53 * words[0], 0xCD9E8D57 * words[2]
        words = [
            high >> 32 ^ words[1] ^ key[0],
            high & 2**32 - 1,
            low >> 32 ^ words[3] ^ key[1],
            low & 2**32 - 1,
        ]
        key = [key[0] + 0x9E3779B9 & 2**32 - 1, key[1] + 0xBB67AE85 & 2**32 - 1]
    return words


def stream(subsequence: int, offset: int) -> Iterator[int]:
    counter = offset // 4
    yield from philox(counter, subsequence, SEED)[offset % 4 :]
    while True:
        counter += 1
        yield from philox(counter, subsequence, SEED)


@pytest.mark.parametrize("offset", [0, 4, 7])
def test_philox_gives_the_numbers_of_its_definition(
    emulate, device, schedule, address, offset
) -> None:
    library = emulate("surface_random.cu")
    device.run_under(schedule)
    count = BLOCKS * THREADS
    integers = torch.zeros(count, 4, dtype=torch.uint32)
    uniform, normal = torch.zeros(count, 4), torch.zeros(count, 4)
    outputs = map(address, (integers, uniform, normal))
    seed, start = map(ctypes.c_ulonglong, (SEED, offset))
    assert library.philox(seed, start, *outputs, BLOCKS, THREADS) == 0
    for i in range(count):
        numbers = stream(i, offset)
        assert integers[i].tolist() == [next(numbers) for _ in range(4)]
        expected = [(next(numbers) + 0.5) * 2.0**-32 for _ in range(4)]
        torch.testing.assert_close(uniform[i], torch.tensor(expected))
    assert 0 < uniform.min() <= uniform.max() <= 1
    assert abs(normal.mean()) < 0.2
    assert 0.8 < normal.std() < 1.2
