"""What the trace of l2_norm cannot say: sizes at the edges, rows in pieces, pitches, and refusals."""

from __future__ import annotations

import pytest
import torch

from fictl.testing import assert_close
from my_kernels.reduction.l2_norm.op import l2_norm
from my_kernels.reduction.l2_norm.trace import l2_norm as trace

DTYPES = (torch.float16, torch.bfloat16, torch.float32)
NUMBERS = ()


def _random(
    rows: int, cols: int, dtype: torch.dtype = DTYPES[0], *, device: str
) -> list[torch.Tensor]:
    """One tensor for each input."""
    shape = (rows, cols)
    return [torch.randn(each, device=device).to(dtype) for each in (shape,)]


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
    _check(l2_norm(*inputs, *NUMBERS), inputs)


def test_equal_values_in_a_row(device: str) -> None:
    inputs = _random(3, 129, device=device)
    equal = [(x.float().abs().round() + 1).to(x.dtype) for x in inputs]
    _check(l2_norm(*equal, *NUMBERS), equal)


@pytest.mark.parametrize("cols", [4097, 16400, 32768, 70_000])
def test_rows_at_and_beyond_what_a_block_holds(cols: int, device: str) -> None:
    for dtype in (DTYPES[0], DTYPES[-1]):
        inputs = _random(1, cols, dtype, device=device)
        _check(l2_norm(*inputs, *NUMBERS), inputs)


@pytest.mark.parametrize("cols", [8, 200, 1024])
@pytest.mark.parametrize("rows", [1, 15, 16, 17])
def test_any_number_of_rows(rows: int, cols: int, device: str) -> None:
    inputs = _random(rows, cols, device=device)
    _check(l2_norm(*inputs, *NUMBERS), inputs)


@pytest.mark.parametrize("offset", [1, 2, 4])
def test_any_of_the_tensors_may_be_misaligned(offset: int, device: str) -> None:
    inputs = _random(2, 256, device=device)
    for moved in range(1):
        placed = [_misaligned(x, offset if i == moved else 0) for i, x in enumerate(inputs)]
        _check(l2_norm(*placed, *NUMBERS), inputs)


@pytest.mark.parametrize("gap", [1, 3, 16])
@pytest.mark.parametrize("cols", [40, 1024])
def test_rows_at_a_pitch(cols: int, gap: int, device: str) -> None:
    inputs = _random(8, cols, device=device)
    pitched = [_at_pitch(x, gap) if x.dim() > 1 else x for x in inputs]
    _check(l2_norm(*pitched, *NUMBERS), inputs)


@pytest.mark.parametrize("cols", [5000, 65_536, 300_000, 300_001])
@pytest.mark.parametrize("rows", [1, 3])
def test_long_rows_in_pieces(rows: int, cols: int, device: str) -> None:
    # Why of one sign: of what cancels in so many values no digits are left to compare.
    inputs = [x.abs() for x in _random(rows, cols, DTYPES[-1], device=device)]
    _check(l2_norm(*inputs, *NUMBERS), inputs)


def test_out_is_returned(device: str) -> None:
    inputs = _random(4, 64, device=device)
    out = torch.empty_like(l2_norm(*inputs, *NUMBERS))
    assert l2_norm(*inputs, *NUMBERS, out=out) is out
    _check(out, inputs)


@pytest.mark.parametrize("cols", [128, 1024, 100_000])
def test_a_row_is_the_same_bit_by_bit_whatever_is_batched_with_it(cols: int, device: str) -> None:
    inputs = _random(5, cols, device=device)
    together = l2_norm(*inputs, *NUMBERS)
    for row in (0, 1, 4):
        alone = [x[row : row + 1] if x.dim() > 1 else x for x in inputs]
        apart = l2_norm(*alone, *NUMBERS).float().nan_to_num()
        assert torch.equal(apart, together[row : row + 1].float().nan_to_num())


def test_no_rows_are_no_work(device: str) -> None:
    inputs = _random(0, 64, device=device)
    assert l2_norm(*inputs, *NUMBERS).shape == inputs[0].shape[:-1]


def test_rows_without_elements_give_what_the_reference_does(device: str) -> None:
    inputs = _random(4, 0, device=device)
    _check(l2_norm(*inputs, *NUMBERS), inputs)


def test_an_out_that_is_not_contiguous_is_refused(device: str) -> None:
    inputs = _random(4, 8, device=device)
    out = l2_norm(*inputs, *NUMBERS)
    out = torch.stack([out, out], dim=-1)[..., 0]
    with pytest.raises(ValueError, match=r"l2_norm: .*'out' is not contiguous"):
        l2_norm(*inputs, *NUMBERS, out=out)


def test_a_last_dimension_that_is_not_contiguous_is_refused(device: str) -> None:
    inputs = _random(4, 8, device=device)
    at = 0
    inputs[at] = _at_pitch(inputs[at].transpose(0, -1), 0).transpose(0, -1)
    with pytest.raises(ValueError, match=r"l2_norm: .*'x'.*\.contiguous\(\)"):
        l2_norm(*inputs, *NUMBERS)


def test_another_shape_or_dtype_of_out_is_refused_by_name(device: str) -> None:
    inputs = _random(4, 8, device=device)
    right = l2_norm(*inputs, *NUMBERS)
    with pytest.raises(ValueError, match=r"l2_norm: .*'out'.* has shape"):
        l2_norm(*inputs, *NUMBERS, out=torch.cat([right, right], dim=-1))
    with pytest.raises(TypeError, match=r"l2_norm: .*'out'.*int16"):
        l2_norm(*inputs, *NUMBERS, out=right.to(torch.int16))


def test_another_number_of_dimensions_is_refused_by_name(device: str) -> None:
    inputs = [x[None] if x.dim() > 1 else x for x in _random(4, 8, device=device)]
    with pytest.raises(ValueError, match=r"l2_norm: .*'x' has shape .*dimensional"):
        l2_norm(*inputs, *NUMBERS)


def test_an_unsupported_dtype_names_the_accepted_ones(device: str) -> None:
    inputs = _random(4, 8, torch.int16, device=device)
    with pytest.raises(TypeError, match=r"l2_norm: .*'x'.*int16.*float16"):
        l2_norm(*inputs, *NUMBERS)


@pytest.mark.needs_gpu
def test_an_out_on_another_device_is_refused_by_name() -> None:
    inputs = _random(4, 8, device="cuda")
    out = l2_norm(*inputs, *NUMBERS).cpu()
    with pytest.raises(ValueError, match=r"l2_norm: .*'out'.*CPU"):
        l2_norm(*inputs, *NUMBERS, out=out)


@pytest.mark.needs_gpu
def test_the_current_stream_is_used() -> None:
    inputs, later = (_random(256, 4096, device="cuda") for _ in range(2))
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        torch.cuda._sleep(50_000_000)
        for x, new in zip(inputs, later, strict=True):
            x.copy_(new)
        out = l2_norm(*inputs, *NUMBERS)
    stream.synchronize()
    _check(out, later)


@pytest.mark.needs_gpu
def test_a_cuda_graph_replays_it() -> None:
    inputs, later = (_random(4, 50000, device="cuda") for _ in range(2))
    out = l2_norm(*inputs, *NUMBERS)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        l2_norm(*inputs, *NUMBERS, out=out)
    for x, new in zip(inputs, later, strict=True):
        x.copy_(new)
    graph.replay()
    torch.cuda.synchronize()
    _check(out, later)
