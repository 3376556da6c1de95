"""Random numbers of an op: a seed, and an offset into the stream of each row."""

from __future__ import annotations

from typing import NamedTuple

import torch

_LOW = 0xFFFFFFFF
_SEED_END = 2**63 - 1


class Draws(NamedTuple):
    """Seeds and offsets for kernels (binding/draws.h): tensors, or numbers if a tensor is None."""

    seeds: torch.Tensor | None
    offsets: torch.Tensor | None
    seed: int
    offset: int


def draws(
    op: str,
    rows: int,
    numbers: int,
    device: torch.device,
    generator: torch.Generator | None = None,
    seed: int | torch.Tensor | None = None,
    offset: int | torch.Tensor | None = None,
) -> Draws:
    """Return seeds and offsets for a call of `op` that draws for `rows` rows on `device`.

    Pass both `seed` and `offset`, or neither: each a number, or a tensor of int64 or uint64 on the
    device, with one value or one per row. By default they come from `generator`, or the device's
    default generator, which advances by `numbers` draws. While a CUDA graph is captured or
    torch.compile traces, the seed is drawn on the device, so that each replay has another seed.
    """
    if seed is not None and offset is not None:
        seeds, seed = _given(op, "seed", seed, rows, device)
        offsets, offset = _given(op, "offset", offset, rows, device)
        return Draws(seeds, offsets, seed, offset)
    if seed is not None or offset is not None:
        given, missing = ("seed", "offset") if offset is None else ("offset", "seed")
        raise ValueError(
            f"{op}: argument '{given}' is given and '{missing}' is not; pass both, or neither and "
            "a generator"
        )
    _check(op, generator, device)
    if torch.compiler.is_compiling():
        seed_tensor = torch.randint(_SEED_END, (1,), device=device, generator=generator)
        return Draws(seed_tensor, None, 0, 0)
    if device.type != "cuda":
        return Draws(None, None, int(torch.randint(_SEED_END, (), generator=generator)), 0)
    if torch.cuda.is_current_stream_capturing():
        seed_tensor = torch.empty(1, dtype=torch.int64, device=device).random_(generator=generator)
        return Draws(seed_tensor, None, 0, 0)
    return Draws(None, None, *_taken(generator or _default(device), numbers))


def uniforms(
    rows: int,
    count: int,
    seed: int | torch.Tensor,
    offset: int | torch.Tensor,
    device: torch.device | str = "cpu",
) -> torch.Tensor:
    """Return the first `count` numbers that a kernel draws for each row: (rows, count), float64.

    They equal cuRAND's Philox4x32-10 fp32 numbers in (0, 1]. Rows that share a seed use their row
    number as subsequence; the numbers of a row with its own seed do not depend on its position.
    """
    own = isinstance(seed, torch.Tensor) and seed.numel() == rows > 1
    subsequence = torch.zeros(rows, dtype=torch.int64, device=device)
    if not own:
        subsequence = torch.arange(rows, device=device)
    at = _numbers(offset, rows, device)[:, None] + torch.arange(count, device=device)
    block = (at >> 2) & (2**62 - 1)  # Shift as an unsigned number.
    seeds = _numbers(seed, rows, device)[:, None].expand(rows, count)
    words = torch.stack(_philox(seeds, subsequence[:, None].expand(rows, count), block), -1)
    word = words.gather(-1, (at & 3)[..., None])[..., 0]
    return (word.float() * 2.0**-32 + 2.0**-33).double()


def _philox(
    seed: torch.Tensor, subsequence: torch.Tensor, block: torch.Tensor
) -> tuple[torch.Tensor, ...]:
    """Return four 32-bit words, in int64, whose products wrap like unsigned ones."""
    words = (block & _LOW, block >> 32 & _LOW, subsequence & _LOW, subsequence >> 32 & _LOW)
    key = [seed & _LOW, seed >> 32 & _LOW]
    for _ in range(10):
        a, b = 0xD2511F53 * words[0], 0xCD9E8D57 * words[2]
        words = (
            (b >> 32 & _LOW) ^ words[1] ^ key[0],
            b & _LOW,
            (a >> 32 & _LOW) ^ words[3] ^ key[1],
            a & _LOW,
        )
        key = [key[0] + 0x9E3779B9 & _LOW, key[1] + 0xBB67AE85 & _LOW]
    return words


def _numbers(value: int | torch.Tensor, rows: int, device: torch.device | str) -> torch.Tensor:
    """Return one 64-bit value per row."""
    if isinstance(value, torch.Tensor):
        return value.to(device).view(torch.int64).expand(rows)
    return torch.full((rows,), _signed(value), dtype=torch.int64, device=device)


def _signed(value: int) -> int:
    """Return the int64 with the same bits."""
    return value - 2**64 if value >= 2**63 else value


def _given(
    op: str, name: str, value: int | torch.Tensor, rows: int, device: torch.device
) -> tuple[torch.Tensor | None, int]:
    """Return a tensor, or a number; the binding checks a tensor's dtype and length."""
    if isinstance(value, torch.Tensor):
        if value.device != device:
            raise ValueError(
                f"{op}: argument '{name}' is on {value.device}, the op draws on {device}; pass "
                f"{name}.to({str(device)!r}), or a number"
            )
        return value, 0
    if not isinstance(value, int):
        raise TypeError(
            f"{op}: argument '{name}' is a {type(value).__name__}; pass an int, or an int64 tensor "
            f"of 1 or {rows} values"
        )
    if not -(2**63) <= value < 2**64:
        raise ValueError(f"{op}: argument '{name}' is {value}; it is a number of 64 bits")
    return None, _signed(value)


def _check(op: str, generator: torch.Generator | None, device: torch.device) -> None:
    if generator is None:
        return
    if not isinstance(generator, torch.Generator):
        raise TypeError(
            f"{op}: argument 'generator' is a {type(generator).__name__}; pass a torch.Generator"
        )
    # torch.Generator("cuda") has no index, and serves any GPU.
    its = generator.device
    if its.type != device.type or its.index not in (None, device.index):
        raise ValueError(
            f"{op}: argument 'generator' is on {its}, the op draws on {device}; pass "
            f"torch.Generator({str(device)!r})"
        )


def _default(device: torch.device) -> torch.Generator:
    default: torch.Generator = torch.cuda.default_generators[device.index]
    return default


def _taken(generator: torch.Generator, numbers: int) -> tuple[int, int]:
    """Return the seed, and the offset of numbers reserved for this call: a multiple of four."""
    seed = _signed(generator.initial_seed())
    offset = generator.get_offset()
    generator.set_offset(offset + (numbers + 3) // 4 * 4)
    return seed, offset
