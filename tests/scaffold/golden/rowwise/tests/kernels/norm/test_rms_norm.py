"""What the trace of rms_norm cannot say: sizes at the edges, pitches, and refusals."""

from __future__ import annotations

import pytest
import torch

from fictl.testing import assert_close
from my_kernels.norm.rms_norm.op import rms_norm
from my_kernels.norm.rms_norm.trace import rms_norm as trace

DTYPES = (torch.float16, torch.bfloat16, torch.float32)
NUMBERS = (1e-06,)


def _random(
    rows: int, cols: int, dtype: torch.dtype = DTYPES[0], *, device: str
) -> list[torch.Tensor]:
    """One tensor for each input."""
    shape = (rows, cols)
    return [torch.randn(each, device=device).to(dtype) for each in (shape, shape[-1:])]


def _at_pitch(x: torch.Tensor, gap: int) -> torch.Tensor:
    """The same with so many elements between its rows."""
    whole = torch.zeros(*x.shape[:-1], x.shape[-1] + gap, device=x.device).to(x.dtype)
    return whole[..., : x.shape[-1]].copy_(x)


def _misaligned(x: torch.Tensor, offset: int) -> torch.Tensor:
    """The same, so many elements behind an aligned place."""
    memory = torch.zeros(offset + x.numel(), device=x.device).to(x.dtype)
    return memory[offset:].view(x.shape).copy_(x)


def _check(result: torch.Tensor, inputs: list[torch.Tensor]) -> None:
    """Against the reference, in fp64."""
    exact = [x.double() if x.is_floating_point() else x for x in inputs]
    assert_close(result, trace.reference(*exact, *NUMBERS), tolerances=trace.tolerances)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("cols", [1, 7, 8, 24, 129, 255, 264, 1000, 2056])
def test_any_length_of_a_row(cols: int, dtype: torch.dtype, device: str) -> None:
    inputs = _random(3, cols, dtype, device=device)
    _check(rms_norm(*inputs, *NUMBERS), inputs)


def test_equal_values_in_a_row(device: str) -> None:
    inputs = _random(3, 129, device=device)
    equal = [(x.float().abs().round() + 1).to(x.dtype) for x in inputs]
    _check(rms_norm(*equal, *NUMBERS), equal)


@pytest.mark.parametrize("cols", [4097, 16400, 32768, 70_000])
def test_rows_at_and_beyond_what_a_block_holds(cols: int, device: str) -> None:
    for dtype in (DTYPES[0], DTYPES[-1]):
        inputs = _random(1, cols, dtype, device=device)
        _check(rms_norm(*inputs, *NUMBERS), inputs)


@pytest.mark.parametrize("cols", [8, 200, 1024])
@pytest.mark.parametrize("rows", [1, 15, 16, 17])
def test_any_number_of_rows(rows: int, cols: int, device: str) -> None:
    inputs = _random(rows, cols, device=device)
    _check(rms_norm(*inputs, *NUMBERS), inputs)


@pytest.mark.parametrize("offset", [1, 2, 4])
def test_any_of_the_tensors_may_be_misaligned(offset: int, device: str) -> None:
    inputs = _random(2, 256, device=device)
    for moved in range(2):
        placed = [_misaligned(x, offset if i == moved else 0) for i, x in enumerate(inputs)]
        _check(rms_norm(*placed, *NUMBERS), inputs)


@pytest.mark.parametrize("gap", [1, 3, 16])
@pytest.mark.parametrize("cols", [40, 1024])
def test_rows_at_a_pitch(cols: int, gap: int, device: str) -> None:
    inputs = _random(8, cols, device=device)
    pitched = [_at_pitch(x, gap) if x.dim() > 1 else x for x in inputs]
    _check(rms_norm(*pitched, *NUMBERS), inputs)


@pytest.mark.parametrize("cols", [40, 1024])
def test_a_pitched_out_leaves_its_gaps_alone(cols: int, device: str) -> None:
    inputs = _random(8, cols, device=device)
    out = _at_pitch(inputs[0], 16)
    rms_norm(*inputs, *NUMBERS, out=out)
    _check(out, inputs)
    gaps = out.as_strided((*out.shape[:-1], 16), out.stride(), out.shape[-1])
    assert bool((gaps.float() == 0).all())


@pytest.mark.parametrize("written", [0])
@pytest.mark.parametrize("cols", [64, 100, 1024, 20_000, 70_000])
def test_out_is_returned_and_may_be_an_input(written: int, cols: int, device: str) -> None:
    inputs = _random(2, cols, device=device)
    before = [x.clone() for x in inputs]
    out = inputs[written]
    assert rms_norm(*inputs, *NUMBERS, out=out) is out
    _check(out, before)


@pytest.mark.parametrize("cols", [128, 1024])
def test_a_row_is_the_same_bit_by_bit_whatever_is_batched_with_it(cols: int, device: str) -> None:
    inputs = _random(37, cols, device=device)
    together = rms_norm(*inputs, *NUMBERS)
    for row in (0, 1, 36):
        alone = [x[row : row + 1] if x.dim() > 1 else x for x in inputs]
        apart = rms_norm(*alone, *NUMBERS).float().nan_to_num()
        assert torch.equal(apart, together[row : row + 1].float().nan_to_num())


@pytest.mark.parametrize(("rows", "cols"), [(0, 64), (4, 0)])
def test_no_elements_are_no_work(rows: int, cols: int, device: str) -> None:
    inputs = _random(rows, cols, device=device)
    assert rms_norm(*inputs, *NUMBERS).shape == inputs[0].shape


def test_an_out_whose_rows_overlap_is_refused(device: str) -> None:
    inputs = _random(4, 8, device=device)
    row = torch.zeros_like(inputs[0].flatten()[: inputs[0].shape[-1]])
    with pytest.raises(ValueError, match=r"rms_norm: .*'out'.*its rows overlap"):
        rms_norm(*inputs, *NUMBERS, out=row.expand_as(inputs[0]))


def test_a_last_dimension_that_is_not_contiguous_is_refused(device: str) -> None:
    inputs = _random(4, 8, device=device)
    at = 0
    inputs[at] = _at_pitch(inputs[at].transpose(0, -1), 0).transpose(0, -1)
    with pytest.raises(ValueError, match=r"rms_norm: .*'x'.*\.contiguous\(\)"):
        rms_norm(*inputs, *NUMBERS)


def test_another_shape_or_dtype_of_weight_is_refused_by_name(device: str) -> None:
    inputs = _random(4, 8, device=device)
    right = inputs[1]
    inputs[1] = torch.cat([right, right], dim=-1)
    with pytest.raises(ValueError, match=r"rms_norm: .*'weight' has "):
        rms_norm(*inputs, *NUMBERS)
    inputs[1] = right.to(torch.int16)
    with pytest.raises(TypeError, match=r"rms_norm: .*'weight'.*int16"):
        rms_norm(*inputs, *NUMBERS)


def test_another_shape_or_dtype_of_out_is_refused_by_name(device: str) -> None:
    inputs = _random(4, 8, device=device)
    right = rms_norm(*inputs, *NUMBERS)
    with pytest.raises(ValueError, match=r"rms_norm: .*'out'.* has shape"):
        rms_norm(*inputs, *NUMBERS, out=torch.cat([right, right], dim=-1))
    with pytest.raises(TypeError, match=r"rms_norm: .*'out'.*int16"):
        rms_norm(*inputs, *NUMBERS, out=right.to(torch.int16))


def test_another_number_of_dimensions_is_refused_by_name(device: str) -> None:
    inputs = [x[None] if x.dim() > 1 else x for x in _random(4, 8, device=device)]
    with pytest.raises(ValueError, match=r"rms_norm: .*'x' has shape .*dimensional"):
        rms_norm(*inputs, *NUMBERS)


def test_an_unsupported_dtype_names_the_accepted_ones(device: str) -> None:
    inputs = _random(4, 8, torch.int16, device=device)
    with pytest.raises(TypeError, match=r"rms_norm: .*'x'.*int16.*float16"):
        rms_norm(*inputs, *NUMBERS)


@pytest.mark.needs_gpu
def test_an_out_on_another_device_is_refused_by_name() -> None:
    inputs = _random(4, 8, device="cuda")
    out = rms_norm(*inputs, *NUMBERS).cpu()
    with pytest.raises(ValueError, match=r"rms_norm: .*'out'.*CPU"):
        rms_norm(*inputs, *NUMBERS, out=out)


@pytest.mark.needs_gpu
def test_the_current_stream_is_used() -> None:
    inputs, later = (_random(256, 4096, device="cuda") for _ in range(2))
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        torch.cuda._sleep(50_000_000)
        for x, new in zip(inputs, later, strict=True):
            x.copy_(new)
        out = rms_norm(*inputs, *NUMBERS)
    stream.synchronize()
    _check(out, later)


@pytest.mark.needs_gpu
def test_a_cuda_graph_replays_it() -> None:
    inputs, later = (_random(4, 50000, device="cuda") for _ in range(2))
    out = rms_norm(*inputs, *NUMBERS)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        rms_norm(*inputs, *NUMBERS, out=out)
    for x, new in zip(inputs, later, strict=True):
        x.copy_(new)
    graph.replay()
    torch.cuda.synchronize()
    _check(out, later)
