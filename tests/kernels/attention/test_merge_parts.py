"""What merges the parts of rows, given parts that no kernel has computed."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
import torch

from fictl.kernels.attention._config import Config
from fictl.kernels.attention.decode.jit import module
from fictl.op import KernelModule

BF16 = torch.bfloat16
DIM, GROUP, KV_HEADS = 64, 2, 3
CONFIG = Config(BF16, BF16, BF16, DIM, True, GROUP, tensor_cores=False)
KERNEL = KernelModule(module)
LOG2E = math.log2(math.e)


def _merge(
    merges: Sequence[tuple[int, ...]],
    means: torch.Tensor,
    sums: torch.Tensor,
    tokens: int,
    sinks: torch.Tensor | None = None,
    v_scale: float = 1.0,
) -> tuple[torch.Tensor, torch.Tensor]:
    device = means.device
    out = torch.full((tokens, GROUP * KV_HEADS, DIM), torch.nan, dtype=BF16, device=device)
    lse = torch.full(out.shape[:2], torch.nan, device=device)
    cache = torch.zeros(1, 1, KV_HEADS, DIM, dtype=BF16, device=device)
    pages = torch.zeros(1, dtype=torch.int32, device=device)
    KERNEL[CONFIG].attend(
        "merge",
        out,
        lse,
        out,
        cache,
        cache,
        pages,
        1,
        False,
        torch.empty((0, 12), dtype=torch.int32, device=device),
        torch.tensor(merges, dtype=torch.int32, device=device).reshape(-1, 8),
        None,
        means.reshape(-1),
        sums.reshape(-1),
        None,
        None,
        sinks,
        *(None, None, None),
        1.0,
        v_scale,
        0.0,
        -1,
        False,
        1.0,
        1e4,
        None,
        True,
        0,
    )
    return out, lse


def _parts(parts: int, device: str) -> tuple[torch.Tensor, torch.Tensor]:
    """(parts, rows, kv_heads, dim) means, and the logarithms of their sums."""
    means = torch.randn(parts, GROUP, KV_HEADS, DIM, device=device)
    return means, 8 * torch.randn(parts, GROUP, KV_HEADS, device=device)


def _expected(
    means: torch.Tensor, sums: torch.Tensor, sinks: torch.Tensor | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Of one query: (heads, dim) and (heads,); a sink is one more part, without a value."""
    weights = sums.double().transpose(1, 2).flatten(1)
    values = means.double().transpose(1, 2).flatten(1, 2)
    if sinks is not None:
        weights = torch.cat([weights, sinks.double()[None] * LOG2E])
        values = torch.cat([values, torch.zeros_like(values[:1])])
    lse = torch.logsumexp(weights / LOG2E, 0)
    shares = torch.exp(weights / LOG2E - lse).nan_to_num(0.0)
    return (shares[..., None] * values).sum(0), lse * LOG2E


@pytest.mark.parametrize("parts", [1, 2, 3, 16, 64, 65, 200])
def test_any_number_of_parts(parts: int, device: str) -> None:
    means, sums = _parts(parts, device)
    out, lse = _merge([(GROUP, 0, 1, 0, parts, 0, 1, 9)], means, sums, tokens=3)
    wanted, wanted_lse = _expected(means, sums)
    torch.testing.assert_close(out[1].double(), wanted, rtol=1e-2, atol=1e-3)
    torch.testing.assert_close(lse[1].double(), wanted_lse, rtol=1e-5, atol=1e-4)
    assert out[[0, 2]].isnan().all()
    assert lse[[0, 2]].isnan().all()


def test_parts_without_keys_weigh_nothing(device: str) -> None:
    means, sums = _parts(5, device)
    sums[[0, 3]] = -torch.inf
    means[[0, 3]] = 0
    out, lse = _merge([(GROUP, 0, 0, 0, 5, 0, 1, 9)], means, sums, tokens=1)
    wanted, wanted_lse = _expected(means[[1, 2, 4]], sums[[1, 2, 4]])
    torch.testing.assert_close(out[0].double(), wanted, rtol=1e-2, atol=1e-3)
    torch.testing.assert_close(lse[0].double(), wanted_lse, rtol=1e-5, atol=1e-4)


def test_a_row_without_keys_is_0(device: str) -> None:
    means, sums = _parts(2, device)
    out, lse = _merge(
        [(GROUP, 0, 0, 0, 2, 0, 1, 9)], 0 * means, torch.full_like(sums, -torch.inf), tokens=1
    )
    assert out.eq(0).all()
    assert lse.eq(-torch.inf).all()


def test_a_sink_counts_once_and_values_are_scaled_once(device: str) -> None:
    means, sums = _parts(3, device)
    sinks = torch.randn(GROUP * KV_HEADS, device=device)
    merges = [(GROUP, 0, 0, 0, 3, 0, 1, 9)]
    out, lse = _merge(merges, means, sums, tokens=1, sinks=sinks, v_scale=4.0)
    wanted, wanted_lse = _expected(means, sums, sinks)
    torch.testing.assert_close(out[0].double(), 4 * wanted, rtol=1e-2, atol=4e-3)
    torch.testing.assert_close(lse[0].double(), wanted_lse, rtol=1e-5, atol=1e-4)


def test_rows_of_several_queries_and_tiles_go_where_they_belong(device: str) -> None:
    # Three rows of one request: both heads of query 1, and the first of query 2; then padding.
    means = torch.randn(2, 3, KV_HEADS, DIM, device=device)
    sums = torch.randn(2, 3, KV_HEADS, device=device)
    out, lse = _merge([(3, 2, 4, 0, 2, 0, 5, 9), (0,) * 8], means, sums, tokens=8)
    weights = sums.double().mul(math.log(2)).softmax(0)[..., None]
    wanted = (weights * means.double()).sum(0).transpose(0, 1)  # (kv_heads, rows, dim)
    written = out.view(8, KV_HEADS, GROUP, DIM)
    found = torch.stack([written[5, :, 0], written[5, :, 1], written[6, :, 0]], 1)
    torch.testing.assert_close(found.double(), wanted, rtol=1e-2, atol=1e-3)
    assert (~lse.isnan()).sum() == 3 * KV_HEADS


def test_nothing_to_merge_is_no_work(device: str) -> None:
    means, sums = _parts(1, device)
    out, lse = _merge([], means, sums, tokens=2)
    assert out.isnan().all()
    assert lse.isnan().all()
