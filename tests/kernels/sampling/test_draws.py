"""Random numbers on their way to a kernel, seen by one that takes a draft where u < q."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from fictl.kernels.sampling.speculative.op import chain_speculative_sampling
from fictl.op import uniforms

from .statistics import (
    KINDS,
    LEAST,
    assert_drawn_from,
    chi_square,
    kept_joint,
    kept_min_p,
    kept_top_k,
    kept_top_k_first,
    kept_top_p,
    kolmogorov_smirnov,
    make_row,
)

Below = Callable[..., torch.Tensor]


def _seed(device: str, seed: int) -> None:
    """Why not torch.manual_seed: it counts the GPUs once, and a test before may have hidden them."""
    (torch.cuda.manual_seed if device == "cuda" else torch.default_generator.manual_seed)(seed)


@pytest.fixture
def below(device: str) -> Below:
    """(rows, numbers) that may be 1 and less: how many of a row's numbers are below them."""

    def count(least: torch.Tensor, **given: Any) -> torch.Tensor:
        rows, numbers = least.shape
        target = torch.ones((rows, numbers + 1, 1), device=device)
        target[:, :-1, 0] = least.to(device)
        drafts = torch.zeros((rows, numbers), dtype=torch.int32, device=device)
        draft = torch.ones((rows, numbers, 1), device=device)
        return chain_speculative_sampling(draft, drafts, target, **given)[1].cpu()

    return count


SEVERAL = torch.tensor([3, 2**40, -5, 3])
GIVEN: dict[str, tuple[Any, Any]] = {
    "numbers": (7, 0),
    "large ones": (2**64 - 3, 2**34 - 2),
    "negative ones": (-3, -7),
    "one of each": (torch.tensor([9]), torch.tensor([5])),
    "one a row": (SEVERAL, torch.tensor([0, 1, 2, 2**33])),
    "unsigned": (SEVERAL.view(torch.uint64), torch.tensor([2], dtype=torch.uint64)),
    "one and several": (11, torch.tensor([0, 1, 2, 3])),
}


@pytest.mark.parametrize("given", GIVEN)
def test_a_kernel_draws_these_numbers_bit_by_bit(given: str, below: Below, device: str) -> None:
    seed, offset = GIVEN[given]
    made = uniforms(4, 9, seed, offset).float()
    on_device = {
        name: x.to(device) if isinstance(x, torch.Tensor) else x
        for name, x in (("seed", seed), ("offset", offset))
    }
    assert below(made, **on_device).tolist() == [0] * 4
    above = torch.nextafter(made, torch.full_like(made, 2.0))
    assert below(above, **on_device).tolist() == [9] * 4


def test_a_generator_decides_and_moves_on(below: Below, device: str) -> None:
    half = torch.full((8, 30), 0.5)
    generator = torch.Generator(device).manual_seed(4)
    first, second = below(half, generator=generator), below(half, generator=generator)
    assert not torch.equal(first, second)
    assert torch.equal(below(half, generator=generator.manual_seed(4)), first)
    _seed(device, 4)
    assert torch.equal(below(half), first)


@pytest.mark.parametrize("name", ["seed", "offset"])
def test_tensors_that_do_not_fit_are_refused_by_name(name: str, below: Below, device: str) -> None:
    half = torch.full((4, 2), 0.5)
    right = torch.zeros(8, dtype=torch.int64, device=device)
    op = "chain_speculative_sampling: argument"
    for wrong, error, said in (
        (right[:4].int(), TypeError, "has dtype int32; accepted: int64, uint64"),
        (right[:4].double(), TypeError, "has dtype float64; accepted: int64, uint64"),
        (right[:3], ValueError, r"has shape \(3,\); it is one number, \(1,\), or .*, \(4,\)"),
        (right[0], ValueError, r"has shape \(\)"),
        (right[::2], ValueError, r"is not contiguous: .*strides \(2,\); pass .*contiguous\(\)"),
        (right[:1].expand(4), ValueError, "is not contiguous"),
    ):
        with pytest.raises(error, match=f"{op} '{name}' {said}"):
            below(half, **{"seed": 0, "offset": 0, name: wrong})


def test_a_compiled_call_has_the_numbers_that_it_is_given(below: Below, device: str) -> None:
    half = torch.full((8, 30), 0.5)
    torch.compiler.reset()
    compiled = torch.compile(below, fullgraph=True, backend="aot_eager")
    for seed in (3, 4, 2**64 - 1):
        assert torch.equal(compiled(half, seed=seed, offset=0), below(half, seed=seed, offset=0))


def test_a_compiled_call_draws_anew(below: Below, device: str) -> None:
    half = torch.full((8, 30), 0.5)
    torch.compiler.reset()
    compiled = torch.compile(below, fullgraph=True, backend="aot_eager")
    _seed(device, 1)
    first, second = compiled(half), compiled(half)
    assert not torch.equal(first, second)
    _seed(device, 1)
    assert torch.equal(compiled(half), first)
    assert torch.equal(compiled(half), second)


@pytest.mark.needs_gpu
def test_a_graph_reads_seeds_and_offsets_anew() -> None:
    seed, offset = (torch.zeros(1, dtype=torch.int64, device="cuda") for _ in range(2))
    draft, target = (
        torch.ones((8, 30, 1), device="cuda"),
        torch.full((8, 31, 1), 0.5, device="cuda"),
    )
    tokens = torch.zeros((8, 30), dtype=torch.int32, device="cuda")

    def call() -> torch.Tensor:
        return chain_speculative_sampling(draft, tokens, target, seed=seed, offset=offset)[1]

    call()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = call()
    for number in (3, 4, -1):
        seed.fill_(number)
        offset.fill_(2 * number)
        graph.replay()
        wanted = (uniforms(8, 30, number, 2 * number) < 0.5).sum(1)
        assert out.tolist() == wanted.tolist()


def test_what_is_kept_of_rows_with_ties() -> None:
    row = torch.tensor([0.1, 0.4, 0.1, 0.3, 0.0, 0.1])
    all_but_0, two, one = [0, 1, 2, 3, 5], [1, 3], [1]
    for kept, wanted in (
        (kept_top_k(row, 1), one),
        (kept_top_k(row, 2), two),
        (kept_top_k(row, 3), all_but_0),
        (kept_top_k(row, 100), all_but_0),
        (kept_top_p(row, 0.0), one),
        (kept_top_p(row, 0.3), one),
        (kept_top_p(row, 0.45), two),
        (kept_top_p(row, 0.75), all_but_0),
        (kept_min_p(row, 0.0), all_but_0),
        (kept_min_p(row, 0.25), all_but_0),
        (kept_min_p(row, 0.5), two),
        (kept_min_p(row, 1.0), one),
        (kept_joint(row, 2, 0.99), two),
        (kept_joint(row, 3, 0.3), one),
        (kept_top_k_first(row, 2, 0.55), one),
        (kept_top_k_first(row, 2, 0.6), two),
    ):
        assert kept.nonzero().flatten().tolist() == wanted


@pytest.mark.parametrize("kind", KINDS)
def test_right_draws_pass_and_others_do_not(kind: str) -> None:
    vocab, many = 200, 100_000
    row = make_row(kind, vocab)
    assert abs(float(row.sum()) - 1) < 1e-5
    until = row.double().cumsum(0)
    u = torch.rand(many, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    tokens = torch.searchsorted(until, u * until[-1], right=True)
    assert_drawn_from(tokens, row)
    biased, shifted = torch.where(u < 0.01, 0, tokens), (tokens + 1) % vocab
    for wrong in (biased, biased if kind == "flat" else shifted):
        with pytest.raises(AssertionError):
            assert_drawn_from(wrong, row)
    counts = torch.bincount(tokens, minlength=vocab)
    assert min(chi_square(counts, row), kolmogorov_smirnov(counts, row)) > 1000 * LEAST
