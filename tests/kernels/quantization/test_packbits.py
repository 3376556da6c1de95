"""What the traces of packbits cannot say: both orders, every start, dtypes, and refusals."""

from __future__ import annotations

from itertools import pairwise

import pytest
import torch

from fictl.kernels.quantization.packbits.op import packbits, segment_packbits

ORDERS = ("big", "little")


@pytest.fixture
def coins(device: str):
    def make(count: int) -> torch.Tensor:
        return torch.randint(0, 2, (count,), device=device).bool()

    return make


def _packed(x: torch.Tensor, bitorder: str = "big") -> torch.Tensor:
    """As numpy does it."""
    shifts = torch.arange(8, device=x.device)
    if bitorder == "big":
        shifts = shifts.flip(0)
    eights = torch.nn.functional.pad(x.int(), (0, -len(x) % 8)).view(-1, 8)
    return (eights << shifts).sum(1).to(torch.uint8)


def _packed_segments(x: torch.Tensor, indptr: list[int], bitorder: str) -> list[torch.Tensor]:
    return [_packed(x[start:end], bitorder) for start, end in pairwise(indptr)]


def test_the_first_of_eight_is_the_highest_bit_or_the_lowest(device: str) -> None:
    x = torch.tensor([1, 0, 1, 1, 0, 0, 0, 0, 1, 1], device=device).bool()
    assert packbits(x).tolist() == [0b10110000, 0b11000000]
    assert packbits(x, "little").tolist() == [0b00001101, 0b00000011]
    assert packbits(x, bitorder="little").dtype == torch.uint8


@pytest.mark.parametrize("bitorder", ORDERS)
def test_any_number_of_elements_from_any_start(bitorder: str, coins) -> None:
    whole = coins(9000)
    for start in range(9):
        for count in (0, 1, 7, 8, 9, 15, 16, 17, 24, 1000, 8192 + start):
            x = whole[start : start + count]
            assert torch.equal(packbits(x, bitorder), _packed(x, bitorder)), (start, count)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int32, torch.float16, torch.float32])
def test_what_is_not_zero_is_true_whatever_the_dtype(dtype: torch.dtype, coins) -> None:
    x = coins(100)
    assert torch.equal(packbits(x.to(dtype) * 3), _packed(x))
    packed, _ = segment_packbits(x.to(dtype) * 3, torch.tensor([0, 100], device=x.device))
    assert torch.equal(packed, _packed(x))


def test_out_is_returned_and_nothing_beside_it_is_written(coins, device: str) -> None:
    x = coins(2999)
    whole = torch.full((400,), 165, device=device, dtype=torch.uint8)
    out = whole[7 : 7 + 375]
    assert packbits(x, out=out, enable_pdl=False) is out
    assert torch.equal(out, _packed(x))
    assert bool((whole[:7] == 165).all())
    assert bool((whole[382:] == 165).all())


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
@pytest.mark.parametrize("bitorder", ORDERS)
@pytest.mark.parametrize(
    "indptr",
    [
        [0, 4, 7, 11],
        [0],
        [0, 0],
        [0, 0, 0, 8, 8, 8, 9, 9],
        [0, 3000],
        [3, 8, 1003, 1004, 2999],
        [0, *range(1, 3000, 2)],
    ],
    ids=["few", "none", "one empty", "some empty", "one", "neither end", "many"],
)
def test_segments_of_any_length(
    indptr: list[int], bitorder: str, dtype: torch.dtype, coins
) -> None:
    x, ends = coins(3000), torch.tensor(indptr, dtype=dtype)
    expected = _packed_segments(x, indptr, bitorder)
    packed, packed_ends = segment_packbits(x, ends.to(x.device), bitorder)
    starts = torch.tensor([0, *map(len, expected)]).cumsum(0)
    assert packed_ends.dtype == torch.int32
    assert packed_ends.tolist() == starts.tolist()
    assert packed.tolist() == [byte for each in expected for byte in each.tolist()]


def test_more_segments_than_a_block_has_threads(coins, device: str) -> None:
    lengths = torch.randint(0, 4, (3000,), device=device)
    ends = torch.cat([lengths.new_zeros(1), lengths.cumsum(0)])
    _, packed_ends = segment_packbits(coins(int(ends[-1])), ends)
    assert torch.equal(packed_ends[1:].long(), ((lengths + 7) // 8).cumsum(0))


@pytest.mark.parametrize("room", [0, 5, 13, 40])
def test_segments_into_room_that_is_given(room: int, coins, device: str) -> None:
    """Bytes that there is no room for are not written, nor room that there are no bytes for."""
    x, indptr = coins(90), [0, 50, 53, 90]
    out = torch.full((room,), 165, device=device, dtype=torch.uint8)
    packed_ends = torch.empty(4, dtype=torch.int32, device=device)
    ends = torch.tensor(indptr, device=device)
    packed, same = segment_packbits(x, ends, out=out, out_indptr=packed_ends)
    assert packed is out
    assert same is packed_ends
    assert packed_ends.tolist() == [0, 7, 8, 13]
    expected = torch.cat([*_packed_segments(x, indptr, "big"), out.new_full((40,), 165)])
    assert torch.equal(out, expected[:room])


@pytest.mark.parametrize("function", [packbits, segment_packbits])
def test_arguments_are_refused_by_name(function, coins, device: str) -> None:
    x, name = coins(16), function.__name__
    ends = () if function is packbits else (torch.tensor([0, 16], device=device),)
    with pytest.raises(
        ValueError, match=rf"{name}: .*'bitorder' is 'bit'; accepted: 'big', 'little'"
    ):
        function(x, *ends, "bit")
    with pytest.raises(ValueError, match=rf"{name}: .*'x' has shape \(4, 4\)"):
        function(x.view(4, 4), *ends)
    with pytest.raises(ValueError, match=rf"{name}: .*'x' is not contiguous"):
        function(x[::2], *ends)
    with pytest.raises(TypeError, match=rf"{name}: .*'out' has dtype int8; accepted: uint8"):
        function(x, *ends, out=torch.empty(2, dtype=torch.int8, device=device))


def test_another_size_of_out_is_refused(coins, device: str) -> None:
    with pytest.raises(ValueError, match=r"packbits: .*'out' has 3 elements; expected 2"):
        packbits(coins(16), out=torch.empty(3, dtype=torch.uint8, device=device))


def test_offsets_of_another_kind_are_refused(coins, device: str) -> None:
    x, ends = coins(16), torch.tensor([0, 16], device=device)
    with pytest.raises(ValueError, match=r"'indptr' has shape \(0,\); .* where the last one ends"):
        segment_packbits(x, ends[:0])
    with pytest.raises(TypeError, match=r"'indptr' has dtype int16; accepted: int32, int64"):
        segment_packbits(x, ends.short())
    with pytest.raises(TypeError, match=r"'out_indptr' has dtype int64; accepted: int32"):
        segment_packbits(x, ends, out_indptr=ends)
    with pytest.raises(ValueError, match=r"'out_indptr' has 1 elements; expected 2"):
        segment_packbits(x, ends, out_indptr=ends[:1].int())


@pytest.mark.needs_gpu
def test_a_cuda_graph_packs_other_segments_into_the_same_room(coins) -> None:
    x, later = coins(4096), coins(4096)
    ends = torch.tensor([0, 100, 4000, 4096], device="cuda")
    out = torch.empty((4096 + 7 * 3) // 8, dtype=torch.uint8, device="cuda")
    out_indptr = torch.empty(4, dtype=torch.int32, device="cuda")
    segment_packbits(x, ends, out=out, out_indptr=out_indptr)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        segment_packbits(x, ends, out=out, out_indptr=out_indptr)
    x.copy_(later)
    ends.copy_(torch.tensor([0, 1, 2, 4096]))
    graph.replay()
    torch.cuda.synchronize()
    expected = torch.cat(_packed_segments(later, [0, 1, 2, 4096], "big"))
    assert torch.equal(out[: len(expected)], expected)
    assert out_indptr.tolist() == [0, 1, 2, 2 + 512]


@pytest.mark.needs_gpu
def test_more_than_2_to_the_31_elements() -> None:
    count = (1 << 31) + 8 * 4099 + 3
    if torch.cuda.mem_get_info()[0] < 2 * count + (1 << 30):
        pytest.skip("needs more free GPU memory")
    x = torch.zeros(count, device="cuda", dtype=torch.bool)
    x[-9000:] = torch.randint(0, 2, (9000,), device="cuda").bool()
    tail = count - 9000 - (count - 9000) % 8
    packed = packbits(x)
    assert torch.equal(packed[tail // 8 :], _packed(x[tail:]))
    assert not bool(packed[: tail // 8].any())
    packed, ends = segment_packbits(x, torch.tensor([0, 5, tail, count], device="cuda"))
    assert torch.equal(packed[int(ends[2]) :], _packed(x[tail:]))
