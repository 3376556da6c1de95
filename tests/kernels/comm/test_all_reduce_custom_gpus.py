"""vLLM's custom all-reduce in a process for each rank: GPUs, or emulated ones."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.distributed as dist

from fictl.compat.flashinfer import comm

from .on_gpus import on_gpus
from .reducing import of_all_ranks, rank_sum, same_bits

pytestmark = on_gpus
MOST = 1 << 20


class Communicator:
    """Sums as an engine makes them, over torch's default group."""

    def __init__(self, rank: int) -> None:
        self.rank = rank
        self.meta = comm.create_shared_buffer(comm.vllm_meta_size() + MOST)
        self.buffer = comm.create_shared_buffer(MOST, dist.group.WORLD)
        self.begin()

    def begin(self) -> None:
        self.number = comm.vllm_init_custom_ar(self.meta, torch.empty(0), self.rank, True)
        comm.vllm_register_buffer(self.number, self.buffer)

    def sum(self, x: torch.Tensor, ctas: int = 36) -> torch.Tensor:
        out = torch.empty_like(x)
        comm.vllm_all_reduce(self.number, x, out, self.buffer[self.rank], MOST, ctas)
        return out

    def end(self) -> None:
        comm.vllm_dispose(self.number)
        comm.free_shared_buffer(self.buffer)
        comm.free_shared_buffer(self.meta)


def test_from_making_to_freeing(size: int, ranks: Any, process_group: Any, device: str) -> None:
    one = Communicator(ranks.rank)
    assert all(one.buffer)
    assert len(one.buffer) == size
    for _ in range(2):
        for dtype, n, ctas in (
            (torch.float16, 513, 1),
            (torch.bfloat16, 40_000, 36),
            (torch.float32, 7, 8),
        ):
            x = torch.randn(n, device=device).to(dtype)
            assert same_bits(one.sum(x, ctas), rank_sum(of_all_ranks(x)))
        if ranks.rank == 0:
            comm.vllm_dispose(one.number)  # before its peers do, which may still be reading
        dist.barrier()
        if ranks.rank != 0:
            comm.vllm_dispose(one.number)
        one.begin()
    one.end()
    with pytest.raises(ValueError, match="it was freed"):
        comm.free_shared_buffer(one.meta)


def test_the_memory_of_a_peer_is_refused(
    size: int, ranks: Any, process_group: Any, device: str
) -> None:
    one, peer = Communicator(ranks.rank), size - 1 - ranks.rank
    x = torch.zeros(8, device=device)
    words = f"it is that of rank {peer}, and this is rank {ranks.rank}"
    with pytest.raises(ValueError, match=words):
        comm.vllm_all_reduce(one.number, x, x, one.buffer[peer], MOST, 8)
    with pytest.raises(ValueError, match="not the addresses of one shared buffer"):
        comm.vllm_register_buffer(one.number, one.buffer[::-1])
    with pytest.raises(ValueError, match="not the addresses of a shared buffer"):
        comm.vllm_register_buffer(one.number, [one.buffer[peer]] * size)
    with pytest.raises(ValueError, match=f"rank is {peer}, the buffer of ipc_tensors is rank"):
        comm.vllm_init_custom_ar(one.meta, x, peer, True)
    assert same_bits(one.sum(x), x)
    one.end()


@pytest.mark.needs_gpu
def test_graphs(size: int, ranks: Any, process_group: Any, device: str) -> None:
    one = Communicator(ranks.rank)
    x = torch.zeros(6000, device=device)
    one.sum(x)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(2):
            comm.vllm_all_reduce(one.number, x, x, 0, 0, 36)
    every: list[Any] = [None] * size
    dist.all_gather_object(every, comm.vllm_get_graph_buffer_ipc_meta(one.number))
    handles, offsets = zip(*every, strict=True)
    comm.vllm_register_graph_buffers(one.number, list(handles), list(offsets))
    for step in range(1000):
        x.fill_(float(step + ranks.rank))
        graph.replay()
        assert bool((x == size * (size * step + sum(range(size)))).all())
    one.end()


@pytest.mark.needs_gpu
def test_the_runtime_s_own_functions(
    size: int, ranks: Any, process_group: Any, device: str
) -> None:
    runtime = comm.CudaRTLibrary()
    own = runtime.cudaMalloc(64)
    runtime.cudaMemset(own, 7 + ranks.rank, 64)
    runtime.cudaDeviceSynchronize()
    every: list[Any] = [None] * size
    dist.all_gather_object(every, bytes(runtime.cudaIpcGetMemHandle(own)))
    theirs = runtime.cudaIpcOpenMemHandle(
        type(runtime.cudaIpcGetMemHandle(own)).from_buffer_copy(every[size - 1 - ranks.rank])
    )
    here = torch.zeros(64, dtype=torch.uint8)
    runtime.cudaMemcpy(here.data_ptr(), theirs, 64)
    assert here.unique().tolist() == [7 + size - 1 - ranks.rank]
    runtime.cudaIpcCloseMemHandle(theirs)
    dist.barrier()
    runtime.cudaFree(own)
