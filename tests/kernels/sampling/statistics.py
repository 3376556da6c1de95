"""What draws must be distributed like: rows of every shape, exact filters, and tests of counts."""

from __future__ import annotations

import math

import torch

KINDS = ("peaked", "flat", "tied", "heavy", "one_hot", "zeros")
# Of a draw that is right, one test in a million of them fails, and seeds are fixed.
LEAST = 1e-6
_LEAST_EXPECTED = 10.0


def make_row(kind: str, vocab: int, device: torch.device | str = "cpu") -> torch.Tensor:
    """(vocab,) probabilities in fp32: always the same, in no order."""
    generator = torch.Generator().manual_seed(vocab)
    noise = torch.rand(vocab, generator=generator, dtype=torch.float64)
    place = torch.randperm(vocab, generator=generator)
    if kind == "peaked":
        weights = noise / vocab
        weights[place[0]] = 10.0
    elif kind == "flat":
        weights = torch.ones(vocab, dtype=torch.float64)
    elif kind == "tied":
        weights = 2.0 ** -(4 * noise).floor()
    elif kind == "heavy":
        weights = 1.0 / (1.0 + place)
    elif kind == "one_hot":
        weights = (place == 0).double()
    else:
        weights = torch.where(place % 2 == 0, 0.1 + noise, 0.0)
    return (weights / weights.sum()).float().to(device)


def kept_top_k(probs: torch.Tensor, k: int) -> torch.Tensor:
    """Those with fewer than k that are larger: all equals of the last are kept."""
    least = probs.sort(-1, descending=True).values[..., min(max(k, 1), probs.shape[-1]) - 1]
    return (probs >= least[..., None]) & (probs > 0)


def kept_top_p(probs: torch.Tensor, p: float) -> torch.Tensor:
    """Those that less than p in sum is larger than: all equals of the last are kept."""
    values, order = probs.double().sort(-1, descending=True)
    before = values.cumsum(-1) - values
    # Of equals, what is before the first.
    first = torch.searchsorted(-values, -values, side="left")
    sorted_above = before.gather(-1, first)
    above = torch.empty_like(sorted_above).scatter_(-1, order, sorted_above)
    largest = probs == probs.amax(-1, keepdim=True)
    return ((above < p) | largest) & (probs > 0)


def kept_min_p(probs: torch.Tensor, p: float) -> torch.Tensor:
    """Those that are at least p times the largest, in fp32 as a kernel sees it."""
    largest = probs.float().amax(-1, keepdim=True)
    least = torch.minimum(torch.tensor(p, device=probs.device) * largest, largest)
    return (probs.float() >= least) & (probs > 0)


def kept_joint(probs: torch.Tensor, k: int, p: float) -> torch.Tensor:
    """What top-k and top-p both keep of the row."""
    return kept_top_k(probs, k) & kept_top_p(probs, p)


def kept_top_k_first(probs: torch.Tensor, k: int, p: float) -> torch.Tensor:
    """What top-p keeps of what top-k kept, whose sum is 1 then."""
    return kept_top_p(renormalised(probs, kept_top_k(probs, k)), p)


def renormalised(probs: torch.Tensor, kept: torch.Tensor) -> torch.Tensor:
    """What is kept, with the sum 1, in fp64; the rest is 0."""
    weights = torch.where(kept, probs.double(), 0.0)
    return weights / weights.sum(-1, keepdim=True)


def assert_drawn_from(tokens: torch.Tensor, probs: torch.Tensor) -> None:
    """Many draws are distributed as one row of probabilities, of any sum, says."""
    vocab = probs.numel()
    drawn = tokens.flatten().long()
    assert bool(((drawn >= 0) & (drawn < vocab)).all()), f"a token is beyond {vocab}"
    counts = torch.bincount(drawn, minlength=vocab)
    impossible = (counts > 0) & (probs.flatten() <= 0)
    at = int(impossible.int().argmax())
    assert not bool(impossible.any()), f"{int(counts[at])} draws of {at}, which has no probability"
    for test in (chi_square, kolmogorov_smirnov):
        found = test(counts, probs)
        assert found >= LEAST, f"{len(drawn)} draws of {vocab}: {test.__name__} gives {found:.3g}"


def chi_square(counts: torch.Tensor, probs: torch.Tensor) -> float:
    """How likely counts as far off are, or further, where `probs` is what was drawn from.

    What is expected too rarely for the test counts together with neighbours.
    """
    weights = probs.flatten().double()
    seen, expected = counts.double(), counts.sum() * weights / weights.sum()
    group = _groups(expected)
    size = int(group.max()) + 1
    seen, expected = (
        torch.zeros(size, dtype=torch.float64, device=x.device).index_add_(0, group, x)
        for x in (seen, expected)
    )
    if size == 1:
        return 1.0
    statistic = ((seen - expected).square() / expected).sum()
    degrees = torch.tensor((size - 1) / 2, dtype=torch.float64, device=statistic.device)
    return float(torch.special.gammaincc(degrees, statistic / 2))


def kolmogorov_smirnov(counts: torch.Tensor, probs: torch.Tensor) -> float:
    """The same by the cumulative sums, which part where a stretch of the row is drawn too often."""
    wanted = probs.flatten().double().cumsum(0)
    drawn = counts.double().cumsum(0)
    apart = (drawn / drawn[-1] - wanted / wanted[-1]).abs().max()
    return min(1.0, 2.0 * math.exp(-2.0 * float(drawn[-1]) * float(apart) ** 2))


def _groups(expected: torch.Tensor) -> torch.Tensor:
    """From 0 on, the group of each: its own, or that of neighbours that are expected often enough."""
    rare = expected < _LEAST_EXPECTED
    so_far = torch.where(rare, expected, 0.0).cumsum(0)
    # The last ones, of which there are not enough for a group, go with the one before.
    groups = int(so_far[-1] / _LEAST_EXPECTED)
    of_rare = (so_far / _LEAST_EXPECTED).long().clamp(max=max(groups - 1, 0))
    of_others = (~rare).cumsum(0) - 1 + groups
    return torch.where(rare, of_rare, of_others)
