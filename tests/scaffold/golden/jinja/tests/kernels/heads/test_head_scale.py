"""What the trace of head_scale cannot say: lengths of a row, pitches, and refusals."""

from __future__ import annotations

import pytest
import torch

from fictl.testing import assert_close
from my_kernels.heads.head_scale.jit import module
from my_kernels.heads.head_scale.op import head_scale
from my_kernels.heads.head_scale.trace import head_scale as trace

DTYPES = (torch.float16, torch.bfloat16, torch.float32)
NUMBERS = (1.5,)


def _random(
    rows: int, cols: int, dtype: torch.dtype = DTYPES[0], *, device: str
) -> list[torch.Tensor]:
    """One tensor for each input."""
    shape = (rows, 2, cols)
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


@pytest.mark.parametrize("cols", [1, 12])
def test_any_length_of_a_row(cols: int, device: str) -> None:
    inputs = _random(37, cols, device=device)
    _check(head_scale(*inputs, *NUMBERS), inputs)


@pytest.mark.parametrize("rows", [1, 2, 31, 32, 33, 129, 1000])
def test_any_number_of_rows(rows: int, device: str) -> None:
    inputs = _random(rows, 64, device=device)
    _check(head_scale(*inputs, *NUMBERS), inputs)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_vector_is_16_bytes_or_what_a_row_is_a_multiple_of(dtype: torch.dtype) -> None:
    sizes = {cols: module(dtype, cols).template for cols in (7, 64)}
    assert {cols: made and made.parameters["vec"] for cols, made in sizes.items()} == {
        7: 1,
        64: 16 // dtype.itemsize,
    }


@pytest.mark.parametrize("offset", [1, 2, 4])
def test_any_of_the_tensors_may_be_misaligned(offset: int, device: str) -> None:
    inputs = _random(2, 64, device=device)
    for moved in range(2):
        placed = [_misaligned(x, offset if i == moved else 0) for i, x in enumerate(inputs)]
        _check(head_scale(*placed, *NUMBERS), inputs)


@pytest.mark.parametrize("gap", [1, 3, 16])
def test_rows_at_a_pitch(gap: int, device: str) -> None:
    inputs = _random(8, 64, device=device)
    pitched = [_at_pitch(x, gap) if x.dim() > 1 else x for x in inputs]
    _check(head_scale(*pitched, *NUMBERS), inputs)


@pytest.mark.parametrize("gap", [1, 16])
def test_a_pitched_out_leaves_its_gaps_alone(gap: int, device: str) -> None:
    inputs = _random(8, 64, device=device)
    out = _at_pitch(inputs[0], gap)
    head_scale(*inputs, *NUMBERS, out=out)
    _check(out, inputs)
    gaps = out.as_strided((*out.shape[:-1], gap), out.stride(), out.shape[-1])
    assert bool((gaps.float() == 0).all())


@pytest.mark.parametrize("written", [0])
def test_out_is_returned_and_may_be_an_input(written: int, device: str) -> None:
    inputs = _random(20, 64, device=device)
    before = [x.clone() for x in inputs]
    out = inputs[written]
    assert head_scale(*inputs, *NUMBERS, out=out) is out
    _check(out, before)


def test_no_rows_are_no_work(device: str) -> None:
    inputs = _random(0, 64, device=device)
    assert head_scale(*inputs, *NUMBERS).shape == inputs[0].shape


def test_rows_of_no_elements_are_refused(device: str) -> None:
    with pytest.raises(ValueError, match=r"head_scale: .*'x' has rows of 0 elements"):
        head_scale(*_random(4, 0, device=device), *NUMBERS)


def test_an_out_whose_rows_overlap_is_refused(device: str) -> None:
    inputs = _random(4, 8, device=device)
    whole = inputs[0].clone()
    out = whole.as_strided(whole.shape, [*[0] * (whole.dim() - 1), 1])
    with pytest.raises(ValueError, match=r"head_scale: .*'out'.*its rows overlap"):
        head_scale(*inputs, *NUMBERS, out=out)


def test_a_last_dimension_that_is_not_contiguous_is_refused(device: str) -> None:
    inputs = _random(4, 8, device=device)
    at = 0
    inputs[at] = _at_pitch(inputs[at].transpose(0, -1), 0).transpose(0, -1)
    with pytest.raises(ValueError, match=r"head_scale: .*'x'.*\.contiguous\(\)"):
        head_scale(*inputs, *NUMBERS)


def test_another_shape_or_dtype_of_weight_is_refused_by_name(device: str) -> None:
    inputs = _random(4, 8, device=device)
    right = inputs[1]
    inputs[1] = torch.cat([right, right], dim=-1)
    with pytest.raises(ValueError, match=r"head_scale: .*'weight' has "):
        head_scale(*inputs, *NUMBERS)
    inputs[1] = right.to(torch.int16)
    with pytest.raises(TypeError, match=r"head_scale: .*'weight'.*int16"):
        head_scale(*inputs, *NUMBERS)


def test_another_shape_or_dtype_of_out_is_refused_by_name(device: str) -> None:
    inputs = _random(4, 8, device=device)
    right = head_scale(*inputs, *NUMBERS)
    with pytest.raises(ValueError, match=r"head_scale: .*'out'.* has shape"):
        head_scale(*inputs, *NUMBERS, out=torch.cat([right, right], dim=-1))
    with pytest.raises(TypeError, match=r"head_scale: .*'out'.*int16"):
        head_scale(*inputs, *NUMBERS, out=right.to(torch.int16))


def test_another_number_of_dimensions_is_refused_by_name(device: str) -> None:
    inputs = [x[None] if x.dim() > 1 else x for x in _random(4, 8, device=device)]
    with pytest.raises(ValueError, match=r"head_scale: .*'x' has shape .*dimensional"):
        head_scale(*inputs, *NUMBERS)


def test_an_unsupported_dtype_names_the_accepted_ones(device: str) -> None:
    inputs = _random(4, 8, torch.int16, device=device)
    with pytest.raises(TypeError, match=r"head_scale: .*'x'.*int16.*float16"):
        head_scale(*inputs, *NUMBERS)


@pytest.mark.needs_gpu
def test_an_out_on_another_device_is_refused_by_name() -> None:
    inputs = _random(4, 8, device="cuda")
    out = head_scale(*inputs, *NUMBERS).cpu()
    with pytest.raises(ValueError, match=r"head_scale: .*'out'.*CPU"):
        head_scale(*inputs, *NUMBERS, out=out)


@pytest.mark.needs_gpu
def test_the_current_stream_is_used() -> None:
    inputs, later = (_random(256, 4096, device="cuda") for _ in range(2))
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        torch.cuda._sleep(50_000_000)
        for x, new in zip(inputs, later, strict=True):
            x.copy_(new)
        out = head_scale(*inputs, *NUMBERS)
    stream.synchronize()
    _check(out, later)


@pytest.mark.needs_gpu
def test_a_cuda_graph_replays_it() -> None:
    inputs, later = (_random(4, 50000, device="cuda") for _ in range(2))
    out = head_scale(*inputs, *NUMBERS)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        head_scale(*inputs, *NUMBERS, out=out)
    for x, new in zip(inputs, later, strict=True):
        x.copy_(new)
    graph.replay()
    torch.cuda.synchronize()
    _check(out, later)
