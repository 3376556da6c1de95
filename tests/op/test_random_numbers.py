"""Seeds and offsets from whatever is given, and the numbers that kernels make of them.

Why generators are seeded one by one: torch.manual_seed counts the GPUs, once in a process, and
tests before these may have hidden them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from fictl.op import Draws, draws, op, uniforms

CPU = torch.device("cpu")
STEP = 2.0**-32


def make(rows: int = 4, **more: Any) -> Draws:
    return draws("pick", rows, rows, more.pop("device", CPU), **more)


def words(*numbers: int) -> list[float]:
    """As cuRAND makes fp32 of them."""
    exact = torch.tensor(numbers).float() * STEP + STEP / 2
    return exact.double().tolist()


def test_numbers_are_those_of_philox() -> None:
    """The known answers of Random123 for a counter and a key of zeros, and of ones."""
    zeros = words(0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)
    assert uniforms(1, 4, 0, 0)[0].tolist() == zeros
    # The counter of ones is that of row 2^64 - 1: its seed is one of ones, and so is its offset.
    from fictl.op.random_numbers import _philox

    ones = torch.full((1,), -1, dtype=torch.int64)
    assert [int(x) for x in _philox(ones, ones, ones)] == [
        0x408F276D,
        0x41C83B0E,
        0xA20BC7C6,
        0x6D5451FD,
    ]


def test_numbers_are_above_0_and_up_to_1() -> None:
    made = uniforms(1000, 100, 3, 0)
    assert made.shape == (1000, 100)
    assert float(made.min()) > 0
    assert float(made.max()) <= 1
    assert abs(float(made.mean()) - 0.5) < 0.005
    assert torch.equal(made.float().double(), made)


@pytest.mark.parametrize("offset", [0, 1, 6, 2**34 - 2, 2**63 - 3, 2**64 - 40, -40])
def test_an_offset_skips_as_many_numbers(offset: int) -> None:
    later = uniforms(2, 4, 7, offset + 3)
    assert torch.equal(uniforms(2, 7, 7, offset)[:, 3:], later)


def test_rows_that_share_a_seed_differ_and_those_with_their_own_do_not() -> None:
    shared = uniforms(3, 2, 5, 0)
    assert len({*shared[:, 0].tolist()}) == 3
    assert torch.equal(uniforms(3, 2, torch.tensor([5]), torch.tensor([0])), shared)
    own = uniforms(3, 2, torch.tensor([5, 6, 5]), 0)
    assert torch.equal(own[0], own[2])
    assert torch.equal(own[0], shared[0])
    assert torch.equal(own[1], uniforms(1, 2, 6, 0)[0])


def test_a_seed_is_64_bits_however_they_are_written() -> None:
    same = (-1, 2**64 - 1, torch.tensor([-1]), torch.tensor([2**64 - 1], dtype=torch.uint64))
    first, *others = (uniforms(2, 4, seed, 0) for seed in same)
    for other in others:
        assert torch.equal(first, other)


def test_numbers_that_are_given_are_passed_on() -> None:
    assert make(seed=3, offset=4) == Draws(None, None, 3, 4)
    assert make(seed=-1, offset=2**64 - 2) == Draws(None, None, -1, -2)
    seeds, offsets = torch.arange(4), torch.zeros(1, dtype=torch.int64)
    made = make(seed=seeds, offset=offsets)
    assert made.seeds is seeds
    assert made.offsets is offsets
    assert make(seed=seeds, offset=9) == Draws(seeds, None, 0, 9)


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({"seed": 1}, ValueError, "'seed' is given and 'offset' is not; pass both, or neither"),
        ({"offset": 1}, ValueError, "'offset' is given and 'seed' is not; pass both, or neither"),
        ({"seed": 1.5, "offset": 0}, TypeError, "'seed' is a float; pass an int"),
        ({"seed": 0, "offset": 2**64}, ValueError, "'offset' is 18446744073709551616; .* 64 bits"),
        ({"seed": torch.ones(1, device="meta"), "offset": 0}, ValueError, "'seed' is on meta"),
        ({"generator": 3}, TypeError, "'generator' is a int; pass a torch.Generator"),
        (
            {"generator": torch.Generator(), "device": torch.device("cuda:0")},
            ValueError,
            r"'generator' is on cpu, the op draws on cuda:0; pass torch.Generator\('cuda:0'\)",
        ),
    ],
)
def test_what_gives_no_numbers_is_refused(given: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=f"pick: argument {said}"):
        make(**given)


def test_a_generator_gives_other_numbers_each_time_and_the_same_again() -> None:
    generator = torch.Generator().manual_seed(3)
    made = [make(generator=generator).seed for _ in range(3)]
    assert len({*made}) == 3
    generator.manual_seed(3)
    assert [make(generator=generator).seed for _ in range(3)] == made
    torch.default_generator.manual_seed(3)
    assert [make().seed for _ in range(3)] == made


@pytest.fixture
def picked() -> Callable[[torch.Tensor], torch.Tensor]:
    """An op whose result is the seed that it draws with."""

    @op(archs=">=7.5", dtypes="f32", devices="cuda emu", mutates="")
    def pick(x: torch.Tensor) -> torch.Tensor:
        made = draws("pick", len(x), len(x), x.device)
        return x.long() + (made.seed if made.seeds is None else made.seeds)

    return pick


@pytest.mark.needs_gpu
def test_a_generator_of_a_gpu_is_as_far_as_what_was_taken_of_it() -> None:
    device = torch.device("cuda", torch.cuda.current_device())
    generators = (torch.Generator(name).manual_seed(5) for name in ("cuda", str(device)))
    for given in (*generators, None):
        torch.cuda.manual_seed(5)
        first, second = (draws("pick", 3, numbers, device, given) for numbers in (9, 4))
        assert first == Draws(None, None, 5, 0)
        assert second == Draws(None, None, 5, 12)
    assert torch.cuda.default_generators[device.index].get_offset() == 16


@pytest.mark.needs_gpu
def test_torch_draws_none_of_the_numbers_again() -> None:
    device = torch.device("cuda", torch.cuda.current_device())
    torch.cuda.manual_seed(5)
    made = draws("pick", 64, 64, device)
    ours = uniforms(64, 4, made.seed, made.offset)
    theirs = torch.rand(4096, device=device).double().cpu()
    assert not bool(torch.isin(ours.flatten(), theirs).any())
    # Of so few numbers a thread of torch's takes the first of four.
    assert bool(torch.isin(uniforms(64, 1, made.seed, made.offset + 64), theirs).all())


@pytest.mark.needs_gpu
def test_a_captured_call_draws_anew_with_every_replay(
    picked: Callable[[torch.Tensor], torch.Tensor],
) -> None:
    x = torch.zeros(1, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = picked(x)

    def replayed() -> list[int]:
        torch.cuda.manual_seed(1)
        made = []
        for _ in range(3):
            graph.replay()
            made.append(int(out))
        return made

    assert len({*replayed()}) == 3
    assert replayed() == replayed()
