{% set a, b, out = inputs[0].name, inputs[1].name, outputs[0].name %}
"""Tests of {{ name }} beside its trace: both backends, edges, strides, and refusals."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from fictl.testing import assert_close, get_compute_capability
from {{ package }}.{{ family }}.{{ name }} import op, trace

TRACE = trace.{{ name }}
A, B, OUT = "{{ a }}", "{{ b }}", "{{ out }}"
DTYPES = ({% for dtype in dtypes %}torch.{{ dtype.name }}{{ ", " if not loop.last }}{% endfor %}{{ "," if dtypes | length == 1 }})
Randn = Callable[..., torch.Tensor]
Product = Callable[..., torch.Tensor]


@pytest.fixture
def randn(device: str) -> Randn:
    def make(*shape: int, dtype: torch.dtype = DTYPES[0]) -> torch.Tensor:
        return torch.randn(shape, device=device).to(dtype)

    return make


@pytest.fixture(params=["sm90", "sm80"])
def product(request: pytest.FixtureRequest) -> Product:
    """Multiply by one backend; those that this GPU cannot run are skipped."""
    major, minor = get_compute_capability()
    if not op.{{ name }}.is_backend_supported(request.param, 10 * major + minor):
        pytest.skip(f"backend {request.param} does not run on sm_{major}{minor}")

    def multiply(a: torch.Tensor, b: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
{{ py("        return op." ~ name ~ "(", ["a", "b", out ~ "=out", "backend=request.param"], ")") }}

    return multiply


def automatic(a: torch.Tensor, b: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
{{ py("    return op." ~ name ~ "(", ["a", "b", out ~ "=out"], ")") }}


def check(result: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> None:
    """Against the reference, in fp64."""
    expected = TRACE.reference(a.double(), b.double())
    assert_close(result, expected, {{ '"' ~ outputs[0].name ~ '", ' if outputs[0].name != "out" }}tolerances=TRACE.tolerances)


def refused(error: type[Exception], name: str, text: str) -> pytest.RaisesExc:
    return pytest.raises(error, match=rf"{{ name }}: argument '{name}' {text}")


@pytest.mark.parametrize(
    ("m", "n", "k"),
    [(1, 1, 1), (1, 33, 264), (17, 40, 24), (65, 100, 520), (129, 263, 72), (200, 130, 1111)],
)
def test_any_size(m: int, n: int, k: int, randn: Randn, product: Product) -> None:
    a, b = randn(m, k), randn(n, k)
    check(product(a, b), a, b)


@pytest.mark.parametrize("dtype", DTYPES)
def test_any_dtype(dtype: torch.dtype, randn: Randn, product: Product) -> None:
    a, b = randn(70, 64, dtype=dtype), randn(130, 64, dtype=dtype)
    check(product(a, b), a, b)


@pytest.mark.needs_gpu
def test_more_tiles_than_there_are_multiprocessors(randn: Randn, product: Product) -> None:
    a, b = randn(2100, 72), randn(4203, 72)
    check(product(a, b), a, b)


def test_the_same_call_gives_the_same_bits(randn: Randn, product: Product) -> None:
    a, b = randn(70, 200), randn(130, 200)
    assert torch.equal(product(a, b), product(a, b))


def test_without_any_{{ inputs[0].axis_names[1] }}_all_is_zero(randn: Randn) -> None:
    assert bool((automatic(randn(40, 0), randn(72, 0), out=randn(40, 72)) == 0).all())


@pytest.mark.parametrize(("m", "n"), [(0, 8), (8, 0), (0, 0)])
def test_no_elements_are_no_work(m: int, n: int, randn: Randn, product: Product) -> None:
    assert product(randn(m, 16), randn(n, 16)).shape == (m, n)


@pytest.mark.parametrize("m", [3, 70])
def test_what_lies_beyond_a_row_is_not_read(m: int, randn: Randn, product: Product) -> None:
    a, b = randn(m, 64), randn(100, 64)
    a[:, 50:], b[:, 50:] = torch.nan, torch.nan
    check(product(a[:, :50], b[:, :50]), a[:, :50], b[:, :50])


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x[::2],
        lambda x: x[:, 8:72],
        lambda x: x[:, 1:72],
        lambda x: x[:, ::2],
        lambda x: x[:96].t().contiguous().t(),
        lambda x: x[:1].expand(100, 96),
    ],
)
def test_any_strides(
    view: Callable[[torch.Tensor], torch.Tensor], randn: Randn, product: Product
) -> None:
    a, b = view(randn(100, 96)), view(randn(100, 96))
    check(product(a, b), a, b)


@pytest.mark.parametrize(("start", "pitch"), [(0, 48), (8, 64), (1, 64), (0, 41), (3, 47)])
def test_out_at_any_pitch_and_place_leaves_its_gaps_alone(
    start: int, pitch: int, randn: Randn, product: Product, device: str
) -> None:
    a, b = randn(20, 64), randn(40, 64)
    whole = torch.full((20, pitch + 8), 7.0, device=device).to(a.dtype)
    out = whole[:, start : start + 40]
    assert product(a, b, out=out) is out
    check(out, a, b)
    out.fill_(7.0)
    assert bool((whole == 7.0).all())


{% if dtypes | selectattr("name", "equalto", "float16") | list %}
def test_sums_beyond_the_range_of_float16_are_infinite(product: Product, device: str) -> None:
    a = torch.full((4, 64), 200.0, dtype=torch.float16, device=device)
    assert bool(product(a, a).isinf().all())


def test_sums_may_leave_the_range_of_float16_and_return(product: Product, device: str) -> None:
    a = torch.full((4, 64), 200.0, dtype=torch.float16, device=device)
    b = a.clone()
    b[:, 32:] = -200.0
    assert bool((product(a, b) == 0).all())


{% endif %}
@pytest.mark.parametrize("shape", [(8,), (2, 2, 8)])
def test_other_than_two_dimensions_are_refused_by_name(
    shape: tuple[int, ...], randn: Randn
) -> None:
    with refused(ValueError, A, r"has shape .* not 2-dim"):
        automatic(randn(*shape), randn(4, 8))
    with refused(ValueError, B, r"has shape .* not 2-dim"):
        automatic(randn(4, 8), randn(*shape))


def test_sizes_that_do_not_fit_are_refused_by_name(randn: Randn) -> None:
    a, b = randn(4, 16), randn(8, 16)
    with refused(ValueError, B, rf"has shape \(8, 24\); .*'{A}' of \(4, 16\)"):
        automatic(a, randn(8, 24))
    with refused(ValueError, OUT, rf"has shape \(5, 8\); .*'{A}' of \(4, 16\)"):
        automatic(a, b, out=randn(5, 8))


def test_an_out_that_cannot_be_written_is_refused(randn: Randn) -> None:
    a, b = randn(16, 16), randn(16, 16)
    with refused(ValueError, OUT, r"has strides .*must be contiguous"):
        automatic(a, b, out=randn(16, 16).t())
    with refused(ValueError, OUT, r".*strides \(0, 1\): its rows overlap"):
        automatic(a, b, out=randn(1, 16).expand(16, 16))
    with refused(ValueError, OUT, rf".*shares memory with '{A}'"):
        automatic(a, b, out=a)


def test_another_dtype_is_refused_by_name(randn: Randn) -> None:
    a, b = randn(4, 8), randn(8, 8)
    with refused(TypeError, B, r"has dtype int16"):
        automatic(a, b.to(torch.int16))
    with refused(TypeError, OUT, r"has dtype int16"):
        automatic(a, b, out=randn(4, 8, dtype=torch.int16))


def test_an_unsupported_dtype_names_the_accepted_ones(randn: Randn) -> None:
    a, b = randn(4, 8, dtype=torch.float64), randn(8, 8, dtype=torch.float64)
    with refused(TypeError, A, r".*float64.*{{ dtypes[0].name }}"):
        automatic(a, b)


@pytest.mark.needs_gpu
def test_an_out_on_another_device_is_refused_by_name(randn: Randn) -> None:
    with refused(ValueError, OUT, r".*(CUDA|cpu)"):
        automatic(randn(4, 8), randn(8, 8), out=randn(4, 8).cpu())


@pytest.mark.needs_gpu
def test_the_current_stream_is_used(randn: Randn) -> None:
    a, later, b = randn(256, 512), randn(256, 512), randn(512, 512)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        torch.cuda._sleep(50_000_000)
        a.copy_(later)
        out = automatic(a, b)
    stream.synchronize()
    check(out, later, b)


@pytest.mark.needs_gpu
def test_a_cuda_graph_replays_it(randn: Randn) -> None:
    a, later, b, out = randn(32, 512), randn(32, 512), randn(512, 512), randn(32, 512)
    automatic(a, b, out=out)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        automatic(a, b, out=out)
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
    assert bool((automatic(a, b) == 8).all())
