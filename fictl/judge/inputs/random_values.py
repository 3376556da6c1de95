"""Random tensors and numbers that suit an input's name and dtype."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from fictl.errors import UsageError

if TYPE_CHECKING:
    import torch

# Names of inputs that index other tensors: random values would read out of bounds.
_POINTS = re.compile(
    r"(^|_)(indptr|indices|index|idx|ids?|tables?|offsets|lens?|lengths?|positions?|slots?"
    r"|slot_mapping|seqlens?|routing|perm|permutation)($|_)"
)
_COUNTS = re.compile(r"^(top_?|num_)?k$")
_SEEDS = re.compile(r"(^|_)(seed|offset)$")
_EPS = re.compile(r"(^|_)eps(ilon)?$")
_MOST_K = 32
_WHOLE = 1024


def seed_of(seed: int, name: str) -> int:
    """Seed of one input: the order in which inputs are generated does not matter."""
    digest = hashlib.sha256(f"{seed}:{name}".encode()).digest()
    return int.from_bytes(digest[:8], "little") >> 1


def random_tensor(
    name: str, shape: Sequence[int], dtype: torch.dtype, seed: int, device: str
) -> torch.Tensor:
    """Normal values, clipped to two in formats of eight bits or less; integers in range."""
    import torch

    generator = torch.Generator(device=device).manual_seed(seed)
    if dtype.is_floating_point:
        return _floats(shape, dtype, device, generator)
    low, high = _range(name, dtype)
    return torch.randint(low, high, [*shape], device=device, generator=generator).to(dtype)


def random_number(name: str, dtype: torch.dtype, seed: int) -> int | float | bool:
    """A random number, positive where that is safer: a scale, a theta, a count."""
    import torch

    generator = torch.Generator().manual_seed(seed)
    if dtype is torch.bool:
        return bool(torch.randint(0, 2, (), generator=generator))
    if dtype.is_floating_point:
        drawn = 0.1 + 0.9 * float(torch.rand((), generator=generator))
        return 1e-6 if _EPS.search(name) else drawn
    low, high = _range(name, dtype)
    return int(torch.randint(max(low, 1), high, (), generator=generator))


def _floats(
    shape: Sequence[int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> torch.Tensor:
    import torch

    if dtype is torch.float4_e2m1fn_x2:  # Any byte is two of them, and finite.
        drawn = torch.randint(0, 256, [*shape], device=device, generator=generator)
        return drawn.to(torch.uint8).view(dtype)
    if dtype is torch.float8_e8m0fnu:  # Powers of two around one.
        drawn = torch.randint(-3, 4, [*shape], device=device, generator=generator)
        return drawn.float().exp2().to(dtype)
    wide = torch.float64 if dtype is torch.float64 else torch.float32
    normal = torch.randn([*shape], device=device, generator=generator, dtype=wide)
    return (normal.clamp_(-2, 2) if torch.finfo(dtype).bits == 8 else normal).to(dtype)


def _range(name: str, dtype: torch.dtype) -> tuple[int, int]:
    """Range of random integers: the low end, and the high end exclusive."""
    import torch

    if dtype is torch.bool:
        return 0, 2
    if _POINTS.search(name):
        raise UsageError(
            f"{name} holds indices into other tensors, so it cannot be random",
            'give it as "safetensors" or "custom", or add an init to the definition that generates it',
        )
    if _COUNTS.search(name):
        return 1, _MOST_K + 1
    limits = torch.iinfo(dtype)
    if _SEEDS.search(name):
        return 0, min(limits.max, 1 << 31)
    return max(limits.min, -_WHOLE), min(limits.max, _WHOLE - 1) + 1
