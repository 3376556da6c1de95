"""dense on Hopper's tiles: shapes by property, operands that are copied first, epilogues, parts."""

from __future__ import annotations

import pytest
import torch

from fictl.kernels.gemm._cublas import FUNCTIONS
from fictl.kernels.gemm._tactics import Tactic
from fictl.kernels.gemm.dense.op import bmm_bf16, dense, gemm_alpha_beta, mm_bf16

BF16 = torch.bfloat16
# Each is a compile: few configurations carry all shapes.
PLAIN = {"backend": "sm90", "tactic": Tactic(64, 64, "pingpong", parts=1)}
SWAPPED = {"backend": "sm90", "tactic": Tactic(64, 8, "pingpong", swap=True, parts=1)}
TILES = pytest.mark.parametrize("tile", [PLAIN, SWAPPED], ids=["plain", "swapped"])


@pytest.fixture
def randn(device: str):
    def make(*shape: int, dtype: torch.dtype = BF16) -> torch.Tensor:
        return torch.randn(shape, device=device).to(dtype)

    return make


def _close(result: torch.Tensor, expected: torch.Tensor) -> None:
    torch.testing.assert_close(result.double(), expected, rtol=1.7e-2, atol=1e-3)


def _product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return a.double() @ b.double().mT


@TILES
@pytest.mark.parametrize("shape", [(1, 1, 1), (8, 64, 64), (9, 65, 72), (65, 130, 136), (3, 8, 0)])
def test_one_to_three_tiles_and_one_more(tile, shape: tuple[int, int, int], randn) -> None:
    m, n, k = shape
    a, b = randn(m, k), randn(n, k)
    _close(dense(a, b, **tile), _product(a, b))


@TILES
def test_operands_that_bulk_copies_cannot_address(tile, randn) -> None:
    """Rows of odd lengths, a start between chunks, neither dimension contiguous, one row for all."""
    a, b = randn(9, 35), randn(66, 35)
    _close(dense(a, b, **tile), _product(a, b))
    a, b = randn(9, 80)[:, 1:73], torch.stack([randn(66, 72)] * 2, -1)[..., 0]
    _close(dense(a, b, **tile), _product(a, b))
    b = randn(1, 72).expand(66, 72)
    _close(dense(a, b, **tile), _product(a, b))


def test_weights_of_the_other_order(randn) -> None:
    a, b = randn(9, 72), randn(72, 72)
    _close(mm_bf16(a, b, **PLAIN), a.double() @ b.double())


def test_batches_also_of_one_matrix(randn) -> None:
    a, b = randn(3, 9, 40), randn(3, 66, 40)
    _close(bmm_bf16(a, b.mT, **PLAIN), _product(a, b))
    shared = randn(66, 40).expand(3, 66, 40)
    _close(bmm_bf16(a, shared.mT, **PLAIN), _product(a, shared))


@pytest.mark.parametrize("activation", ["silu", "swiglu"])
def test_epilogues(activation: str, randn) -> None:
    a, b, c, bias = randn(9, 72), randn(70, 72), randn(9, 70), randn(70)
    x = 0.5 * _product(a, b) - 2.0 * c.double() + bias.double()
    for tile in (PLAIN, SWAPPED):
        result = dense(a, b, c, bias, 0.5, -2.0, activation, **tile)
        _close(result, FUNCTIONS[activation](x))


def test_tiles_of_fewer_rows_begin_where_16_bytes_do(
    randn, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many tiles of 56 columns as SMs would begin at odd multiples of 28 gated outputs."""
    monkeypatch.setenv("FICTL_EMU_CHECK", "1")
    sms = torch.cuda.get_device_properties(device).multi_processor_count if device == "cuda" else 4
    a, b = randn(5, 72), randn(56 * sms, 72)
    _close(dense(a, b, activation="swiglu", **SWAPPED), FUNCTIONS["swiglu"](_product(a, b)))


def test_c_is_written_in_place(randn) -> None:
    a, b, c = randn(9, 72), randn(70, 72), randn(9, 70)
    expected = _product(a, b) + 0.5 * c.double()
    assert gemm_alpha_beta(a, b, c, beta=0.5, **PLAIN) is c
    _close(c, expected)


def test_parts_of_k_are_summed_in_their_order(randn) -> None:
    a, b = randn(9, 1024), randn(66, 1024)
    tile = {**PLAIN, "tactic": PLAIN["tactic"]._replace(parts=2)}
    results = [dense(a, b, **tile) for _ in range(2)]
    _close(results[0], _product(a, b))
    assert torch.equal(*results)


def test_out_of_any_rows_is_written_alone(randn) -> None:
    a, b = randn(9, 40), randn(30, 40)
    whole = torch.full((9, 37), 7.0, dtype=BF16, device=a.device)
    dense(a, b, out=whole[:, 3:33], **PLAIN)
    _close(whole[:, 3:33], _product(a, b))
    whole[:, 3:33] = 7.0
    assert bool((whole == 7.0).all())


@TILES
def test_gaps_between_rows_are_not_seen_and_not_written(tile, randn) -> None:
    """Rows that begin at multiples of 16 bytes, but do not end there: bulk stores write all 16."""
    a, b = randn(9, 40), randn(43, 40)
    a[:, 35:] = b[:, 35:] = torch.nan
    whole = torch.full((9, 64), 7.0, dtype=BF16, device=a.device)
    dense(a[:, :35], b[:, :35], out=whole[:, :43], **tile)
    _close(whole[:, :43], _product(a[:, :35], b[:, :35]))
    assert bool((whole[:, 43:] == 7.0).all())


@pytest.mark.needs_gpu
@pytest.mark.parametrize("parts", [1, 4])
@TILES
def test_a_cuda_graph_replays_it(tile, parts: int, randn) -> None:
    """Also where parts of k meet through flags in the workspace, which each replay has to reset."""
    tile = {**tile, "tactic": tile["tactic"]._replace(parts=parts)}
    a, later, b = randn(7, 1024), randn(7, 1024), randn(200, 1024)
    out = dense(a, b, **tile)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        dense(a, b, out=out, **tile)
    for x in (later, later * 2):
        a.copy_(x)
        graph.replay()
        torch.cuda.synchronize()
        _close(out, _product(x, b))


@pytest.mark.needs_gpu
@TILES
def test_a_dependent_launch_waits_for_what_it_reads(tile, randn) -> None:
    """A chain of products, each of which begins while the one before it ends."""
    a, b = randn(8, 2048), randn(2048, 2048) / 45
    expected = a
    for _ in range(6):
        expected = dense(expected, b, enable_pdl=False, **tile)
    torch.cuda.synchronize()
    for _ in range(20):
        chained = a
        for _ in range(6):
            chained = dense(chained, b, enable_pdl=True, **tile)
        assert torch.equal(chained, expected)
