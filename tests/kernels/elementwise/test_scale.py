"""What the trace of scale cannot say: shapes, strides, sizes at the edges, and refusals."""

from __future__ import annotations

import pytest
import torch

import fictl.ops
from fictl.arch import parse_archs
from fictl.kernels.elementwise.scale.jit import module
from fictl.kernels.elementwise.scale.op import scale
from fictl.toolchain import can_target, require_nvcc

DTYPES = (torch.float16, torch.bfloat16, torch.float32)


def test_the_facade_serves_the_function_itself() -> None:
    assert fictl.ops.scale is scale


def test_a_tensor_on_another_device_is_refused_by_name_built_or_not() -> None:
    with pytest.raises(ValueError, match=r"scale: argument 'input' is on meta, .* takes C[PU]"):
        scale(torch.ones(4, device="meta"), 2.0)


@pytest.mark.needs_nvcc
def test_it_compiles_for_every_architecture_that_this_nvcc_has() -> None:
    wanted = parse_archs("7.5 8.0 8.6 8.9 9.0 9.0a 10.0a 10.3a 11.0a 12.0f 12.1a")
    entry = module().build(archs=wanted)
    assert set(entry.archs) == {arch for arch in wanted if can_target(require_nvcc(), arch)}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 1023, 4096, 100_003])
def test_any_number_of_elements(n: int, dtype: torch.dtype, device: str) -> None:
    x = torch.randn(n, device=device).to(dtype)
    assert torch.equal(scale(x, 0.5), x * 0.5)


@pytest.mark.parametrize("offset", range(1, 9))
def test_misaligned_input(offset: int, device: str) -> None:
    x = torch.randn(1024, device=device).half()[offset:]
    assert torch.equal(scale(x, 2.0), x * 2.0)


def test_out_is_returned_and_may_be_the_input(device: str) -> None:
    x = torch.randn(64, 96, device=device)
    expected = x * 3.0
    assert scale(x, 3.0, out=x) is x
    assert torch.equal(x, expected)


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x.t(),
        lambda x: x.permute(2, 0, 1) if x.dim() == 3 else x.t(),
        lambda x: x[:, :40],
        lambda x: x[::2],
        lambda x: x[3:5, 1:],
    ],
)
def test_dense_in_another_order_or_rows_at_a_pitch(view, device: str) -> None:
    x = view(torch.randn(64, 96, device=device).bfloat16())
    torch.testing.assert_close(scale(x, 2.0), x * 2.0, rtol=0, atol=0)


def test_a_pitched_output_leaves_its_gaps_alone(device: str) -> None:
    x = torch.randn(8, 40, device=device)
    whole = torch.full((8, 64), 7.0, device=device)
    scale(x, 2.0, out=whole[:, :40])
    assert torch.equal(whole[:, :40], x * 2.0)
    assert bool((whole[:, 40:] == 7.0).all())


def test_irregular_strides_are_refused_in_words(device: str) -> None:
    x = torch.randn(64, 97, device=device)[:, ::3]
    with pytest.raises(ValueError, match=r"scale: .*stride.*contiguous"):
        scale(x, 2.0, out=torch.empty(64, 33, device=device))


def test_another_shape_or_dtype_of_out_is_refused_by_name(device: str) -> None:
    x = torch.randn(4, 8, device=device)
    with pytest.raises(ValueError, match=r"scale: .*'out'.*\(4, 9\)"):
        scale(x, 2.0, out=torch.empty(4, 9, device=device))
    with pytest.raises(TypeError, match=r"scale: .*'out'.*float16"):
        scale(x, 2.0, out=torch.empty(4, 8, device=device, dtype=torch.half))


@pytest.mark.needs_gpu
def test_an_out_on_another_device_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"scale: .*'out'.*(CUDA|cpu)"):
        scale(torch.randn(4, 8, device="cuda"), 2.0, out=torch.empty(4, 8))


def test_an_unsupported_dtype_names_the_accepted_ones(device: str) -> None:
    with pytest.raises(TypeError, match=r"scale: .*'input'.*float64.*float16.*bfloat16.*float32"):
        scale(torch.ones(4, device=device, dtype=torch.double), 2.0)


@pytest.mark.needs_gpu
def test_the_current_stream_is_used() -> None:
    x = torch.ones(1 << 20, device="cuda")
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(50_000_000)
        x.fill_(2.0)
        y = scale(x, 2.0)
    stream.synchronize()
    assert bool((y == 4.0).all())


@pytest.mark.needs_gpu
def test_a_cuda_graph_replays_it() -> None:
    x = torch.ones(4096, device="cuda")
    out = torch.empty_like(x)
    scale(x, 2.0, out=out)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        scale(x, 2.0, out=out)
    x.fill_(5.0)
    graph.replay()
    torch.cuda.synchronize()
    assert bool((out == 10.0).all())


@pytest.mark.needs_gpu
def test_more_than_2_to_the_31_elements() -> None:
    n = (1 << 31) + 4099
    if torch.cuda.mem_get_info()[0] < 4 * n + (1 << 30):
        pytest.skip("needs 10 GB of free GPU memory")
    x = torch.ones(n, device="cuda", dtype=torch.half)
    x[-1] = 3.0
    y = scale(x, 2.0, out=x)
    assert y[-1].item() == 6.0
    assert y[(1 << 31) - 1].item() == 2.0
    assert int((y == 2.0).sum()) == n - 1
