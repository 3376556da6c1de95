"""What the trace of softmax cannot say: borders of tiles, temperatures, special values, refusals."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch

from fictl.kernels.sampling.softmax import trace
from fictl.kernels.sampling.softmax.op import softmax
from fictl.testing import assert_close

DTYPES = (torch.float16, torch.bfloat16, torch.float32)
NAN, INF = math.nan, math.inf
Randn = Callable[..., torch.Tensor]


@pytest.fixture
def randn(device: str) -> Randn:
    def make(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        return torch.randn(shape, device=device).to(dtype)

    return make


def _check(probs: torch.Tensor, logits: torch.Tensor, temperature: float = 1.0) -> None:
    assert_close(probs, torch.softmax(logits.double() / temperature, dim=-1))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("vocab", [1, 2, 3, 511, 512, 513, 1028, 2600])
def test_any_vocabulary(vocab: int, dtype: torch.dtype, randn: Randn) -> None:
    logits = 4 * randn(2, vocab, dtype=dtype)
    _check(softmax(logits), logits)


def test_rows_of_more_tiles_than_a_block_has_warps(randn: Randn) -> None:
    # Of the emulated device, whose blocks keep four tiles a warp: others are read again.
    logits = randn(1, 16 * 512 * 5 + 700)
    _check(softmax(logits), logits)
    aside = torch.cat((logits, logits[:, :1]), dim=1)[:, :-1]
    assert torch.equal(softmax(aside), softmax(logits))


@pytest.mark.needs_gpu
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("vocab", [32003, 128256, 151936, 1 << 20])
@pytest.mark.parametrize("rows", [1, 3, 17, 67, 200])
def test_vocabularies_of_models(rows: int, vocab: int, dtype: torch.dtype, randn: Randn) -> None:
    logits = 4 * randn(rows, vocab, dtype=dtype)
    probs = softmax(logits)
    _check(probs[-3:], logits[-3:])
    assert_close(probs.double().sum(-1).float(), torch.ones(rows).cuda())


@pytest.mark.needs_gpu
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("vocab", [777, 32003, 128256])
def test_a_row_is_the_same_bit_by_bit_in_every_batch(
    vocab: int, dtype: torch.dtype, randn: Randn
) -> None:
    logits = randn(300, vocab, dtype=dtype)
    whole = softmax(logits)
    for rows in (1, 2, 8, 16, 31, 66, 132, 133):
        assert torch.equal(softmax(logits[300 - rows :]), whole[300 - rows :]), rows


def test_a_row_is_the_same_bit_by_bit_however_it_lies(randn: Randn) -> None:
    for dtype in DTYPES:
        padded = randn(3, 1031, dtype=dtype)
        aligned = softmax(padded[:, :1028].contiguous())
        for same in (padded[:, :1028], padded[1:, :1028]):
            assert torch.equal(softmax(same), aligned[-len(same) :])


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x[::2],
        lambda x: x[:, :700],
        lambda x: x[:, 3:600],
        lambda x: x[:, 8:],
        lambda x: x[:1].expand(5, 900),
    ],
    ids=["every second row", "aligned columns", "columns", "the last columns", "one row"],
)
def test_rows_at_any_pitch(view: Callable[[torch.Tensor], torch.Tensor], randn: Randn) -> None:
    logits = view(randn(6, 900, dtype=torch.bfloat16))
    _check(softmax(logits), logits)


@pytest.mark.parametrize("pitch", [701, 704])
def test_a_pitched_output_leaves_its_gaps_alone(pitch: int, randn: Randn, device: str) -> None:
    whole = torch.full((3, pitch), 7.0, device=device)
    logits = randn(3, 700)
    out = whole[:, :700]
    assert softmax(logits, out=out) is out
    _check(out, logits)
    assert bool((whole[:, 700:] == 7.0).all())


@pytest.mark.parametrize("vocab", [701, 1400])
def test_out_may_be_the_logits(vocab: int, randn: Randn) -> None:
    logits = randn(3, vocab)
    expected = softmax(logits)
    assert torch.equal(softmax(logits, out=logits), expected)


def test_no_rows_are_no_work(randn: Randn) -> None:
    assert softmax(randn(0, 100)).shape == (0, 100)
    assert softmax(randn(0, 100), randn(0)).shape == (0, 100)


@pytest.mark.parametrize("temperature", [0.1, 1, 0.7, 50.0, -2.0, 1e-3])
def test_a_temperature_for_all(temperature: float, randn: Randn) -> None:
    logits = randn(3, 600)
    _check(softmax(logits, temperature), logits, temperature)


@pytest.mark.parametrize("dtype", [*DTYPES, torch.float64])
def test_a_temperature_for_each(dtype: torch.dtype, randn: Randn, device: str) -> None:
    logits = randn(4, 600, dtype=torch.bfloat16)
    temperature = torch.tensor([0.25, 1.0, 3.0, 20.0], device=device).to(dtype)
    probs = softmax(logits, temperature)
    for row, each in enumerate(temperature.tolist()):
        _check(probs[row], logits[row], each)
        assert torch.equal(probs[row], softmax(logits, each)[row])
    spread = temperature.repeat_interleave(2)[::2]
    assert torch.equal(softmax(logits, spread), probs)


def test_at_no_and_at_infinite_temperature_all_are_equally_likely(
    randn: Randn, device: str
) -> None:
    logits = randn(2, 600)
    even = torch.full((2, 600), 1 / 600, device=device)
    for temperature in (0.0, INF, torch.tensor([0.0, INF], device=device)):
        assert_close(softmax(logits, temperature), even)
    logits[0, 5] = -INF
    assert softmax(logits, 0.0).isnan().all(-1).tolist() == [True, False]


def test_no_probability_is_above_1_however_cold(randn: Randn) -> None:
    logits = 30 * randn(8, 600)
    for temperature in (0.3, 1e-2, 1.7e-3, 3e-5):
        assert float(softmax(logits, temperature).max()) <= 1.0


def test_an_infinite_logit_that_is_negative_is_never_likely(randn: Randn) -> None:
    logits = randn(3, 1100)
    logits[:, 512:1024] = -INF
    logits[1, :] = -INF
    logits[1, 700] = -40.0
    probs = softmax(logits)
    _check(probs, logits)
    assert float(probs[1, 700]) == 1.0
    assert bool((probs[0, 512:1024] == 0).all())


@pytest.mark.parametrize("value", [NAN, INF])
@pytest.mark.parametrize("at", [0, 511, 600, 1099])
def test_nan_and_infinity_make_their_row_nan_as_in_torch(
    value: float, at: int, randn: Randn
) -> None:
    logits = randn(3, 1100)
    logits[1, at] = value
    assert torch.softmax(logits[1], -1).isnan().all()
    assert softmax(logits).isnan().sum(-1).tolist() == [0, 1100, 0]


def test_a_row_of_minus_infinity_alone_is_nan_as_in_torch(randn: Randn) -> None:
    logits = randn(3, 600)
    logits[1] = -INF
    assert torch.softmax(logits[1], -1).isnan().all()
    assert softmax(logits).isnan().sum(-1).tolist() == [0, 600, 0]


def test_numbers_at_the_end_of_the_range(randn: Randn, device: str) -> None:
    most = torch.finfo(torch.float32).max
    logits = torch.tensor([[-most, -most], [most, -most], [most, most]], device=device)
    _check(softmax(logits), logits)
    logits = torch.full((1, 700), -most, device=device)
    _check(softmax(logits), logits)


def test_pdl_does_not_change_what_a_chain_of_calls_computes(randn: Randn) -> None:
    logits = randn(4, 1100)
    first = softmax(logits, None, False)
    for _ in range(5):
        assert torch.equal(softmax(logits, None, True), first)


@pytest.mark.needs_gpu
def test_a_chain_of_calls_in_a_graph(randn: Randn) -> None:
    logits = randn(64, 128256)
    out, again = torch.empty_like(logits), torch.empty_like(logits)
    softmax(logits, out=out)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        softmax(logits, out=out)
        softmax(out, 1e-3, out=again)
    logits.normal_()
    graph.replay()
    assert torch.equal(out, softmax(logits))
    assert torch.equal(again, softmax(out, 1e-3))


@pytest.mark.needs_gpu
def test_more_than_2_to_the_31_elements(randn: Randn) -> None:
    rows, vocab = 2100, 1 << 20
    if torch.cuda.mem_get_info()[0] < 7 * rows * vocab:
        pytest.skip("needs more free GPU memory")
    logits = torch.zeros(rows, vocab, device="cuda", dtype=torch.half)
    logits[-2:] = randn(2, vocab, dtype=torch.half)
    probs = softmax(logits)
    _check(probs[-3:], logits[-3:])


def test_what_does_not_fit_is_refused_by_name(randn: Randn, device: str) -> None:
    logits = randn(4, 60)
    with pytest.raises(ValueError, match=r"softmax: .*'logits' has shape \(60,\)"):
        softmax(logits[0])
    with pytest.raises(ValueError, match=r"softmax: .*'logits' has shape \(4, 0\).* 1 to 1048576"):
        softmax(logits[:, :0])
    with pytest.raises(ValueError, match=r"softmax: .*'logits' .*logits.contiguous\(\)"):
        softmax(logits.t())
    with pytest.raises(TypeError, match=r"softmax: .*'logits' has dtype float64; .*bfloat16"):
        softmax(logits.double())
    with pytest.raises(ValueError, match=r"softmax: .*'out' has shape \(4, 61\), 'logits' has"):
        softmax(logits, out=randn(4, 61))
    with pytest.raises(TypeError, match=r"softmax: .*'out' has dtype float16; .*float32"):
        softmax(logits, out=logits.half())
    with pytest.raises(ValueError, match=r"softmax: .*'out' .*rows overlap"):
        softmax(logits, out=randn(1, 60).expand(4, 60))
    with pytest.raises(ValueError, match=r"softmax: .*'temperature' has shape \(3,\).* 4 rows"):
        softmax(logits, randn(3))
    with pytest.raises(ValueError, match=r"softmax: .*'temperature' has shape \(4, 1\)"):
        softmax(logits, randn(4, 1))
    with pytest.raises(TypeError, match=r"softmax: .*'temperature' has dtype int64; accepted"):
        softmax(logits, torch.ones(4, device=device, dtype=torch.int64))
    for wrong in (True, "1"):
        with pytest.raises(TypeError, match=r"softmax: .*'temperature' is a (bool|str)"):
            softmax(logits, wrong)


def test_the_reference_is_torch_s(randn: Randn) -> None:
    logits = randn(3, 40).double()
    assert torch.equal(trace.softmax.reference(logits, None), torch.softmax(logits, -1))
