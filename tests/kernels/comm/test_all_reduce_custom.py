"""vLLM's custom all-reduce by its names: ranks of one process, and what is refused in words."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest
import torch

from fictl.comm import Group
from fictl.kernels.comm import _custom_all_reduce as custom
from fictl.kernels.comm._custom_all_reduce import (
    vllm_all_reduce,
    vllm_dispose,
    vllm_get_graph_buffer_ipc_meta,
    vllm_init_custom_ar,
    vllm_meta_size,
    vllm_register_buffer,
    vllm_register_graph_buffers,
)
from fictl.kernels.comm._pointers import MemoryAt
from fictl.kernels.comm._shared_buffers import create_shared_buffer, free_shared_buffer
from fictl.testing import run_ranks

from .reducing import rank_sum, same_bits

MOST = 1 << 16
DTYPES = (torch.float16, torch.bfloat16, torch.float32)


class Communicators:
    """One for each rank, on a buffer of its own, with a registered buffer."""

    def __init__(self, size: int, most: int = MOST, registered: int = MOST) -> None:
        self.groups = Group.local(size)
        self.metas = [create_shared_buffer(vllm_meta_size() + most, g) for g in self.groups]
        self.buffers = [create_shared_buffer(registered, g) for g in self.groups]
        self.begin()

    def begin(self) -> None:
        nothing = torch.empty(0)
        self.numbers = [
            vllm_init_custom_ar(meta, nothing, rank, False) for rank, meta in enumerate(self.metas)
        ]
        for number, buffer in zip(self.numbers, self.buffers, strict=True):
            vllm_register_buffer(number, buffer)

    def own(self, rank: int) -> int:
        """Return the address of a rank's registered buffer."""
        return self.buffers[rank][rank]

    def sum(
        self, inputs: list[torch.Tensor], outs: list[torch.Tensor] | None = None, ctas: int = 36
    ) -> list[torch.Tensor]:
        outs = [torch.empty_like(x) for x in inputs] if outs is None else outs

        def of(rank: int) -> Callable[[], None]:
            return lambda: vllm_all_reduce(
                self.numbers[rank], inputs[rank], outs[rank], self.own(rank), MOST, ctas
            )

        run_ranks([of(rank) for rank in range(len(inputs))])
        return outs


def _inputs(size: int, n: int, dtype: torch.dtype, device: str) -> list[torch.Tensor]:
    return [torch.randn(n, device=device).to(dtype) for _ in range(size)]


@pytest.mark.parametrize("size", [1, 2, 3, 8])
def test_the_same_bits_on_every_rank(size: int, device: str) -> None:
    """Odd sizes and odd numbers of ranks, too; blocks, dtypes and sizes change from call to call."""
    chance = random.Random(size)
    ranks = Communicators(size)
    for _ in range(8):
        dtype, n = chance.choice(DTYPES), chance.choice([1, 7, 513, chance.randrange(1, 9000)])
        inputs = _inputs(size, n, dtype, device)
        expected = rank_sum(inputs)
        outs = inputs if chance.random() < 0.5 else None
        sums = ranks.sum(inputs, outs, chance.choice([1, 2, 36]))
        assert [same_bits(out, expected) for out in sums] == [True] * size, (dtype, n)


def test_zeros_of_two_signs(device: str) -> None:
    ranks = Communicators(2)
    zeros = [torch.full((40,), -0.0, device=device) for _ in range(2)]
    for out in ranks.sum(zeros):
        assert same_bits(out, torch.zeros_like(out))


def test_no_elements_at_all(device: str) -> None:
    ranks = Communicators(2)
    assert ranks.sum(_inputs(2, 0, torch.half, device))[0].numel() == 0


def test_other_orders_of_memory_and_other_shapes(device: str) -> None:
    ranks = Communicators(2)
    inputs = [x.view(2, 3, 4).permute(2, 0, 1) for x in _inputs(2, 24, torch.half, device)]
    for out in ranks.sum(inputs):
        assert torch.equal(out, rank_sum(inputs))
    flat = [torch.empty(24, dtype=torch.half, device=device) for _ in range(2)]
    whole = [x.contiguous() for x in inputs]
    for out in ranks.sum(whole, flat):
        assert torch.equal(out, rank_sum(whole).flatten())


def test_inputs_in_the_registered_buffer(device: str) -> None:
    ranks = Communicators(2)
    inputs = _inputs(2, 100, torch.float32, device)
    there = [MemoryAt(ranks.own(r) + 400, 400).tensor(torch.float32) for r in range(2)]
    for place, x in zip(there, inputs, strict=True):
        place.copy_(x)
    outs = [torch.empty_like(x) for x in inputs]
    run_ranks(
        [
            lambda r=r: vllm_all_reduce(ranks.numbers[r], there[r], outs[r], 0, 0, 8)
            for r in range(2)
        ]
    )
    assert all(same_bits(out, rank_sum(inputs)) for out in outs)


def test_two_communicators_of_the_same_ranks(device: str) -> None:
    first, second = Communicators(2), Communicators(2)
    inputs = _inputs(2, 300, torch.half, device)
    for ranks in (first, second, second, first):
        assert same_bits(ranks.sum(inputs)[1], rank_sum(inputs))
    with pytest.raises(ValueError, match=r"not this rank's address of a registered buffer"):
        vllm_all_reduce(first.numbers[0], *inputs, second.own(0), MOST, 8)
    with pytest.raises(
        ValueError, match=r"the buffer is of rank 0 of 2 .*, the communicator of ra"
    ):
        vllm_register_buffer(first.numbers[0], second.buffers[0])
    with pytest.raises(
        ValueError, match=r"the buffer is of rank 1 of 2 .*, the communicator of ra"
    ):
        vllm_register_buffer(first.numbers[0], first.buffers[1])


def test_a_larger_buffer_makes_room(device: str) -> None:
    ranks = Communicators(2, most=0, registered=1024)
    inputs = _inputs(2, 4096, torch.half, device)
    with pytest.raises(
        ValueError, match="input has 8192 bytes, the communicator has room for 1024"
    ):
        vllm_all_reduce(ranks.numbers[0], *inputs, ranks.own(0), 1024, 8)
    small = _inputs(2, 512, torch.half, device)
    ranks.buffers, few = [create_shared_buffer(MOST, g) for g in ranks.groups], ranks.buffers
    for number, buffer in zip(ranks.numbers, ranks.buffers, strict=True):
        vllm_register_buffer(number, buffer)
        vllm_register_buffer(number, buffer)  # again: nothing changes
    assert same_bits(ranks.sum(inputs)[0], rank_sum(inputs))
    run_ranks(
        [
            lambda r=r: vllm_all_reduce(ranks.numbers[r], small[r], small[r], few[r][r], 1024, 8)
            for r in range(2)
        ]
    )
    assert same_bits(small[0], small[1])


def test_a_rank_that_disposes_while_its_peer_reads(device: str) -> None:
    """Memory stays until the buffer is freed: emulated kernels run behind all of these calls."""
    ranks = Communicators(2)
    inputs = _inputs(2, 3000, torch.half, device)
    expected = rank_sum(inputs)
    outs = [torch.empty_like(x) for x in inputs]

    def call(rank: int) -> None:
        vllm_all_reduce(ranks.numbers[rank], inputs[rank], outs[rank], ranks.own(rank), MOST, 4)
        if rank == 0:
            vllm_dispose(ranks.numbers[0])
            free_shared_buffer(ranks.buffers[0])
            free_shared_buffer(ranks.metas[0])

    run_ranks([lambda: call(0), lambda: call(1)])
    assert all(same_bits(out, expected) for out in outs)


def test_disposed_of_and_made_anew(device: str) -> None:
    ranks = Communicators(2)
    inputs = _inputs(2, 300, torch.half, device)
    with pytest.raises(ValueError, match=r"has a communicator; vllm_dispose\(\) it first"):
        vllm_init_custom_ar(ranks.metas[0], inputs[0], 0, True)
    for _ in range(2):
        assert same_bits(ranks.sum(inputs)[0], rank_sum(inputs))
        gone = ranks.numbers
        for number in gone:
            vllm_dispose(number)
        ranks.begin()
        assert not {*gone} & {*ranks.numbers}
        for use in (vllm_dispose, vllm_get_graph_buffer_ipc_meta):
            with pytest.raises(ValueError, match=f"fa is {gone[0]}, not a communicator"):
                use(gone[0])
    assert same_bits(ranks.sum(inputs)[1], rank_sum(inputs))


def test_buffers_that_were_freed(device: str) -> None:
    ranks = Communicators(2)
    x = torch.zeros(8, device=device)
    free_shared_buffer(ranks.buffers[0], ranks.groups[0])
    with pytest.raises(ValueError, match=r"registered buffer: it was freed, or vllm_register"):
        vllm_all_reduce(ranks.numbers[0], x, x, ranks.own(0), MOST, 8)
    for use in (free_shared_buffer, lambda b: vllm_register_buffer(ranks.numbers[0], b)):
        with pytest.raises(ValueError, match="not the addresses of a shared buffer: it was freed"):
            use(ranks.buffers[0])
    free_shared_buffer(ranks.metas[1])
    with pytest.raises(ValueError, match=r"the buffer that communicator \d+ was made on was freed"):
        vllm_all_reduce(ranks.numbers[1], x, x, ranks.own(1), MOST, 8)
    vllm_dispose(ranks.numbers[1])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"rank": 1}, r"rank is 1, the buffer of ipc_tensors is rank 0 of 2"),
        ({"ipc_tensors": []}, r"\[\] are not the addresses of a shared buffer"),
        ({"ipc_tensors": [4096, 8192]}, r"0x1000, 0x2000\] are not the addresses of a shared"),
        ({"ipc_tensors": [None]}, "are not the addresses of one shared buffer"),
        ({"ipc_tensors": [None, 0, 0]}, "are not the addresses of one shared buffer"),
        ({"ipc_tensors": [None, 4096]}, "are not the addresses of one shared buffer"),
    ],
)
def test_buffers_of_other_ranks_and_of_others(change: Any, words: str, device: str) -> None:
    metas = [create_shared_buffer(vllm_meta_size() + 64, g) for g in Group.local(2)]
    arguments = {"ipc_tensors": metas[0], "rank": 0, **change}
    pointers = [metas[0][0] if one is None else one for one in arguments["ipc_tensors"]]
    with pytest.raises(ValueError, match=words):
        vllm_init_custom_ar(pointers, torch.empty(0), arguments["rank"], True)


def test_sizes_that_no_buffer_has(device: str) -> None:
    (group,) = Group.local(1)
    for size in (0, -5):
        with pytest.raises(ValueError, match=f"size_in_bytes is {size}"):
            create_shared_buffer(size, group)
    with pytest.raises(ValueError, match=r"has 8 bytes, fewer than vllm_meta_size\(\), 256"):
        vllm_init_custom_ar(create_shared_buffer(8, group), torch.empty(0), 0, True)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"reg_buffer": 0}, "is not in a registered buffer, and no graph is being captured"),
        ({"reg_buffer": 4096}, "reg_buffer 0x1000 is not this rank's address of a registered"),
        ({"size": 31}, "reg_buffer_sz_bytes is 31, for an input of 32 bytes; the buffer has 65536"),
        ({"size": MOST + 1}, "reg_buffer_sz_bytes is 65537, for an input of 32 bytes"),
        ({"ctas": 0}, "num_ctas is 0; accepted: 1 to 36"),
        ({"ctas": 37}, "num_ctas is 37; accepted: 1 to 36"),
        ({"out": torch.zeros(9)}, "'out' has 9 elements of torch.float32, 'inp' has 8"),
        ({"out": torch.zeros(8).half()}, "'out' has 8 elements of torch.float16, 'inp' has 8"),
        ({"out": torch.zeros(16)[::2]}, r"has strides \(1,\), 'out' of shape \(8,\) has \(2,\)"),
        ({"fa": 0}, "fa is 0, not a communicator"),
    ],
)
def test_calls_that_are_refused(options: dict[str, Any], words: str, device: str) -> None:
    ranks = Communicators(2)
    x = torch.zeros(8, device=device)
    out = options.get("out", x).to(device)
    if "out" in options and not options["out"].is_contiguous():
        out = torch.zeros(16, device=device)[::2]
    fa, address = options.get("fa", ranks.numbers[0]), options.get("reg_buffer", ranks.own(0))
    with pytest.raises(ValueError, match=words):
        vllm_all_reduce(fa, x, out, address, options.get("size", MOST), options.get("ctas", 8))


def test_before_anything_is_registered(device: str) -> None:
    ranks = Communicators(2)
    other = [create_shared_buffer(64, g) for g in ranks.groups]
    x = torch.zeros(8, device=device)
    with pytest.raises(ValueError, match=r"vllm_register_buffer\(\) did not get it"):
        vllm_all_reduce(ranks.numbers[0], x, x, other[0][0], 64, 8)
    with pytest.raises(ValueError, match="both are contiguous, or dense in the same order"):
        ranks.sum([torch.zeros(4, 4, device=device)[:, :2]] * 2)


class Capturing:
    """Sums of two ranks while a graph is being captured, as the functions see it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, device: str) -> None:
        self.ranks, self.device = Communicators(2), device
        self.patch = monkeypatch

    def sum(self, *sizes: int) -> None:
        """Capture sums of as many elements."""
        with self.patch.context() as patch:
            patch.setattr(custom, "_is_capturing", lambda device: True)
            for n in sizes:
                inputs = _inputs(2, n, torch.float32, self.device)
                expected = rank_sum(inputs)
                run_ranks(
                    [
                        lambda r=r, x=x: vllm_all_reduce(self.ranks.numbers[r], x, x, 0, 0, 8)
                        for r, x in enumerate(inputs)
                    ]
                )
                assert all(same_bits(x, expected) for x in inputs)

    def exchanged(self) -> tuple[list[Any], list[Any]]:
        """Return handles and offsets of both, as a text brings them to the other process."""
        metas = [vllm_get_graph_buffer_ipc_meta(number) for number in self.ranks.numbers]
        handles, offsets = json.loads(json.dumps(list(zip(*metas, strict=True))))
        return handles, offsets


@pytest.fixture
def capturing(monkeypatch: pytest.MonkeyPatch, device: str) -> Capturing:
    if device == "cuda":
        pytest.skip("a GPU captures by itself")
    return Capturing(monkeypatch, device)


def test_sums_of_a_graph_are_registered_once(capturing: Capturing) -> None:
    for count in (3, 1):
        capturing.sum(*[513] * count)
        handles, offsets = capturing.exchanged()
        assert [len(handle) for handle in handles] == [64 * count] * 2
        assert offsets == [[0] * count] * 2
        for number in capturing.ranks.numbers:
            vllm_register_graph_buffers(number, handles, offsets)
    assert capturing.exchanged() == ([[], []], [[], []])


def test_ranks_that_capture_different_sums(capturing: Capturing) -> None:
    captured = [custom.CapturedSum(64, "float16")] * 2
    first, second = (custom._alive[number] for number in capturing.ranks.numbers)
    first.captured, second.captured = captured, captured[:1]
    with pytest.raises(ValueError, match="rank 1 has captured 1 sums, rank 0 2"):
        vllm_register_graph_buffers(capturing.ranks.numbers[0], *capturing.exchanged())
    second.captured = [captured[0], custom.CapturedSum(32, "float16")]
    words = "sum 1 that was captured is of 64 bytes of float16 on rank 0, of 32 bytes of float16"
    with pytest.raises(ValueError, match=f"{words} on rank 1"):
        vllm_register_graph_buffers(capturing.ranks.numbers[1], *capturing.exchanged())


def test_handles_of_another_communicator(capturing: Capturing, device: str) -> None:
    other = Capturing(capturing.patch, device)
    for one in (capturing, other):
        one.sum(8)
    number = capturing.ranks.numbers[0]
    handles, offsets = capturing.exchanged()
    foreign = [handles[0], other.exchanged()[0][1]]
    for wrong in (foreign, [handles[0], handles[1][:-1]], [handles[0], [999] * 64]):
        with pytest.raises(ValueError, match="the handles of rank 1 are not what vllm_get_graph"):
            vllm_register_graph_buffers(number, wrong, offsets)
    for sizes in ((1, 2), (2, 3)):
        with pytest.raises(ValueError, match=r"handles of \d ranks .*; the communicator has 2"):
            vllm_register_graph_buffers(
                number, (handles * 2)[: sizes[0]], (offsets * 2)[: sizes[1]]
            )


@pytest.mark.needs_gpu
def test_graphs_on_one_gpu(device: str) -> None:
    """Each rank captures and replays on a stream of its own; handles are registered behind that."""
    ranks = Communicators(2)
    x = [torch.zeros(3000, device=device) for _ in range(2)]
    ranks.sum(x)  # Why: loading a kernel would wait for the others.
    streams = [torch.cuda.Stream() for _ in range(2)]
    graphs = [torch.cuda.CUDAGraph() for _ in range(2)]
    for rank, graph in enumerate(graphs):
        with torch.cuda.graph(graph, stream=streams[rank]):
            for _ in range(2):
                vllm_all_reduce(ranks.numbers[rank], x[rank], x[rank], 0, 0, 8)
    metas = [vllm_get_graph_buffer_ipc_meta(number) for number in ranks.numbers]
    handles, offsets = ([meta[part] for meta in metas] for part in range(2))
    for number in ranks.numbers:
        vllm_register_graph_buffers(number, handles, offsets)
    for step in range(50):
        for one in x:
            one.fill_(step)
        torch.cuda.synchronize()
        for stream, graph in zip(streams, graphs, strict=True):
            with torch.cuda.stream(stream):
                graph.replay()
        torch.cuda.synchronize()
        assert all(bool((one == 4 * step).all()) for one in x)
