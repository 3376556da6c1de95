"""Shipped ops inside torch: compiled as one graph, captured by CUDA graphs."""

from __future__ import annotations

import pytest
import torch

import fictl.ops


def _block(x: torch.Tensor, weight: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
    """Allocates, writes what it is given, and has work of torch's own before, between and after."""
    y = fictl.ops.scale(x + 1, 0.5)
    fictl.ops.rmsnorm(y * 2, weight, out=out)
    return fictl.ops.scale(out, 3.0) + 1


def _inputs(device: str) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    x = torch.randn(4, 64, device=device)
    return x, torch.ones(64, device=device), torch.empty_like(x)


def _is_same_as_eager(backend: str, device: str) -> None:
    x, weight, out = _inputs(device)
    expected = _block(x, weight, out)
    written = out.clone()
    out.zero_()
    torch.compiler.reset()
    result = torch.compile(_block, fullgraph=True, backend=backend)(x, weight, out)
    torch.testing.assert_close(result, expected)
    torch.testing.assert_close(out, written)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_one_graph_is_what_eager_mode_computes(backend: str, device: str) -> None:
    _is_same_as_eager(backend, device)


@pytest.mark.parametrize("transform", [torch.func.functionalize, torch.func.vmap])
def test_tensors_that_a_transform_wraps_reach_no_kernel(transform, device: str) -> None:
    with pytest.raises(RuntimeError, match="fictl::scale"):
        transform(_scaled_sum)(_built(device))


@pytest.mark.parametrize(
    ("transform", "has"),
    [
        (torch.func.grad, "requires grad"),
        (torch.func.jacrev, "requires grad"),
        (torch.func.jacfwd, "has a tangent"),
    ],
)
def test_a_derivative_is_refused_in_words(transform, has: str, device: str) -> None:
    with pytest.raises(RuntimeError, match=f"argument 'input' {has}, and scale has no gradient"):
        transform(_scaled_sum)(_built(device))


def _scaled_sum(x: torch.Tensor) -> torch.Tensor:
    return fictl.ops.scale(x, 2.0).sum()


def _built(device: str) -> torch.Tensor:
    """An input, after a first call: those that follow are looked at less."""
    x = torch.ones(4, 8, device=device)
    fictl.ops.scale(x, 2.0)
    return x


@pytest.mark.needs_gpu
def test_inductor_compiles_it_as_one_graph() -> None:
    _is_same_as_eager("inductor", "cuda")


@pytest.mark.needs_gpu
def test_a_cuda_graph_replays_a_chain_that_writes_what_it_is_given() -> None:
    x, weight, out = _inputs("cuda")
    scaled = torch.empty_like(x)

    def chain() -> None:
        fictl.ops.scale(x, 2.0, out=scaled)
        fictl.ops.rmsnorm(scaled, weight, out=out)

    chain()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        chain()
    x.normal_()
    graph.replay()
    torch.testing.assert_close(out, torch.nn.functional.rms_norm(2 * x, (64,), weight, 1e-6))


@pytest.mark.needs_gpu
def test_a_call_that_is_given_out_neither_allocates_nor_waits() -> None:
    x, weight, out = _inputs("cuda")
    fictl.ops.rmsnorm(x, weight, out=out)
    torch.cuda.synchronize()
    before = torch.cuda.memory_stats()["allocation.all.allocated"]
    torch.cuda._sleep(200_000_000)
    fictl.ops.rmsnorm(x, weight, out=out)
    assert not torch.cuda.current_stream().query()
    assert torch.cuda.memory_stats()["allocation.all.allocated"] == before
