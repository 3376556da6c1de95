{% set a, b, out = inputs[0].name, inputs[1].name, outputs[0].name %}
"""What the trace of {{ name }} cannot say: sizes at the edges, strides, and refusals."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from fictl.testing import assert_close
from {{ package }}.{{ family }}.{{ name }} import op, trace

TRACE = trace.{{ name }}
A, B, OUT = "{{ a }}", "{{ b }}", "{{ out }}"
DTYPES = ({% for dtype in dtypes %}torch.{{ dtype.name }}{{ ", " if not loop.last }}{% endfor %}{{ "," if dtypes | length == 1 }})
Randn = Callable[..., torch.Tensor]


@pytest.fixture
def randn(device: str) -> Randn:
    def make(*shape: int, dtype: torch.dtype = DTYPES[0]) -> torch.Tensor:
        return torch.randn(shape, device=device).to(dtype)

    return make


def product(a: torch.Tensor, b: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
{{ py("    return op." ~ name ~ "(", ["a", "b", out ~ "=out"], ")") }}


def check(result: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> None:
    """Against the reference, in fp64."""
    expected = TRACE.reference(a.double(), b.double())
    assert_close(result, expected, {{ '"' ~ outputs[0].name ~ '", ' if outputs[0].name != "out" }}tolerances=TRACE.tolerances)


def refused(error: type[Exception], name: str, text: str) -> pytest.RaisesExc:
    return pytest.raises(error, match=rf"{{ name }}: argument '{name}' {text}")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("m", "n", "k"),
    [
        (1, 8, 8),
        (1, 40, 264),
        (15, 64, 1032),
        (63, 72, 24),
        (64, 64, 128),
        (65, 256, 64),
        (128, 520, 72),
        (257, 1032, 200),
        (1000, 2056, 520),
        (2100, 4208, 72),
    ],
)
def test_any_size(m: int, n: int, k: int, dtype: torch.dtype, randn: Randn) -> None:
    a, b = randn(m, k, dtype=dtype), randn(n, k, dtype=dtype)
    check(product(a, b), a, b)


@pytest.mark.parametrize(("m", "n"), [(3, 40), (40, 72), (200, 600)])
def test_without_any_k_all_is_zero(m: int, n: int, randn: Randn) -> None:
    assert bool((product(randn(m, 0), randn(n, 0), out=randn(m, n)) == 0).all())


@pytest.mark.parametrize(("m", "n"), [(0, 8), (8, 0), (0, 0)])
def test_no_elements_are_no_work(m: int, n: int, randn: Randn) -> None:
    assert product(randn(m, 16), randn(n, 16)).shape == (m, n)


@pytest.mark.parametrize("m", [3, 40, 200])
def test_rows_at_a_pitch(m: int, randn: Randn) -> None:
    a, b = randn(2 * m, 80)[::2, 8:72], randn(600, 96)[:, 16:80]
    check(product(a, b), a, b)


@pytest.mark.parametrize(("start", "pitch"), [(0, 40), (0, 48), (8, 64), (16, 72)])
def test_out_at_a_pitch_leaves_its_gaps_alone(
    start: int, pitch: int, randn: Randn, device: str
) -> None:
    a, b = randn(20, 64), randn(40, 64)
    whole = torch.full((20, pitch), 7.0, device=device).to(a.dtype)
    out = whole[:, start : start + 40]
    assert product(a, b, out=out) is out
    check(out, a, b)
    out.fill_(7.0)
    assert bool((whole == 7.0).all())


{% if dtypes | selectattr("name", "equalto", "float16") | list %}
def test_sums_beyond_the_range_of_float16_are_infinite(device: str) -> None:
    a = torch.full((8, 64), 200.0, dtype=torch.float16, device=device)
    assert bool(product(a, a).isinf().all())


def test_sums_may_leave_the_range_of_float16_and_return(device: str) -> None:
    a = torch.full((8, 64), 200.0, dtype=torch.float16, device=device)
    b = a.clone()
    b[:, 32:] = -200.0
    assert bool((product(a, b) == 0).all())


{% endif %}
@pytest.mark.parametrize("shape", [(8,), (2, 2, 8)])
def test_other_than_two_dimensions_are_refused_by_name(
    shape: tuple[int, ...], randn: Randn
) -> None:
    with refused(ValueError, A, r"has shape .* not 2-dim"):
        product(randn(*shape), randn(4, 8))
    with refused(ValueError, B, r"has shape .* not 2-dim"):
        product(randn(4, 8), randn(*shape))


def test_sizes_that_do_not_fit_are_refused_by_name(randn: Randn) -> None:
    a, b = randn(4, 16), randn(8, 16)
    with refused(ValueError, B, rf"has shape \(8, 24\); .* of '{A}'"):
        product(a, randn(8, 24))
    with refused(ValueError, OUT, rf"has shape \(5, 8\); .* of '{A}'"):
        product(a, b, out=randn(5, 8))
    with refused(ValueError, OUT, rf"has shape \(4, 16\); .* of '{B}'"):
        product(a, b, out=randn(4, 16))


def test_rows_that_are_not_a_multiple_of_16_bytes_are_refused_in_words(randn: Randn) -> None:
    with refused(ValueError, A, r"has rows 26 bytes apart.*pad"):
        product(randn(4, 13), randn(8, 13))
    with refused(ValueError, B, r"has rows 34 bytes apart.*pad"):
        product(randn(4, 16), randn(8, 17)[:, :16])
    with refused(ValueError, OUT, r"has rows 26 bytes apart.*pad"):
        product(randn(4, 16), randn(13, 16))
    with refused(ValueError, A, rf"is not aligned to 16 bytes; pass {A}.clone\(\)"):
        product(randn(4, 24)[:, 1:17], randn(8, 16))


def test_columns_that_are_not_a_multiple_of_8_are_refused(randn: Randn) -> None:
    with refused(ValueError, A, r"has shape \(4, 13\); its last dimension is not a multiple of 8"):
        product(randn(4, 16)[:, :13], randn(8, 16)[:, :13])


def test_the_padding_that_is_advised_helps(randn: Randn) -> None:
    a, b = randn(4, 13), randn(8, 13)
    a, b = (torch.nn.functional.pad(x, (0, -x.shape[1] % 8)) for x in (a, b))
    check(product(a, b), a, b)


def test_a_last_dimension_that_is_not_contiguous_is_refused(randn: Randn) -> None:
    a, b, apart = randn(16, 16), randn(16, 16), randn(16, 16).t()
    with refused(ValueError, A, rf"has strides .*{A}.contiguous\(\)"):
        product(apart, b)
    with refused(ValueError, B, rf"has strides .*{B}.contiguous\(\)"):
        product(a, apart)
    with refused(ValueError, OUT, r"has strides .*must be contiguous"):
        product(a, b, out=apart)


def test_rows_that_overlap_are_refused(randn: Randn) -> None:
    with refused(ValueError, A, r".*strides \(0, 1\): its rows overlap"):
        product(randn(1, 8).expand(4, 8), randn(8, 8))
    with refused(ValueError, OUT, r".*strides \(0, 1\): its rows overlap"):
        product(randn(4, 8), randn(8, 8), out=randn(1, 8).expand(4, 8))


def test_another_dtype_is_refused_by_name(randn: Randn) -> None:
    a, b = randn(4, 8), randn(8, 8)
    with refused(TypeError, B, r"has dtype int16"):
        product(a, b.to(torch.int16))
    with refused(TypeError, OUT, r"has dtype int16"):
        product(a, b, out=randn(4, 8, dtype=torch.int16))


def test_an_unsupported_dtype_names_the_accepted_ones(randn: Randn) -> None:
    a, b = randn(4, 8, dtype=torch.float64), randn(8, 8, dtype=torch.float64)
    with refused(TypeError, A, r".*float64.*{{ dtypes[0].name }}"):
        product(a, b)


@pytest.mark.needs_gpu
def test_an_out_on_another_device_is_refused_by_name(randn: Randn) -> None:
    with refused(ValueError, OUT, r".*(CUDA|cpu)"):
        product(randn(4, 8), randn(8, 8), out=randn(4, 8).cpu())


@pytest.mark.needs_gpu
def test_the_current_stream_is_used(randn: Randn) -> None:
    a, later, b = randn(256, 512), randn(256, 512), randn(512, 512)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        torch.cuda._sleep(50_000_000)
        a.copy_(later)
        out = product(a, b)
    stream.synchronize()
    check(out, later, b)


@pytest.mark.needs_gpu
def test_a_cuda_graph_replays_it(randn: Randn) -> None:
    a, later, b, out = randn(32, 512), randn(32, 512), randn(512, 512), randn(32, 512)
    product(a, b, out=out)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        product(a, b, out=out)
    a.copy_(later)
    graph.replay()
    torch.cuda.synchronize()
    check(out, later, b)


@pytest.mark.needs_gpu
def test_an_out_of_more_than_2_to_the_31_elements() -> None:
    m, n = 40_000, 60_000
    if torch.cuda.mem_get_info()[0] < 2 * m * n + (1 << 30):
        pytest.skip("needs 6 GB of free GPU memory")
    a = torch.ones(m, 8, device="cuda", dtype=DTYPES[0])
    b = torch.ones(n, 8, device="cuda", dtype=DTYPES[0])
    assert bool((product(a, b) == 8).all())
