"""Time ops of several GPUs beside those of others, by size; all-reduces in every way that there is.

It is what kernels/comm/_crossovers.py is written from.

python -m fictl.ranks.launch --ranks 4 --report /tmp/ranks.json -- python tests/perf/crossovers.py --save FILE

A GPU for each rank. Each side is a CUDA graph of calls with the same memory, which a sum over all ranks
starts at the same time; a number is the median of the slowest rank, in us. Sides that are missing, or
refuse a size, are left out.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

from fictl.kernels.comm._all_reduce_workspace import AllReduceWorkspace
from fictl.kernels.comm._crossovers import NAMED
from fictl.kernels.comm._peers_bench import (
    flashinfer_all_reduce,
    flashinfer_norm,
    symmetric_all_reduce,
)
from fictl.kernels.comm.all_gather.op import all_gather
from fictl.kernels.comm.all_reduce.op import all_reduce
from fictl.kernels.comm.all_reduce_norm.op import all_reduce_norm
from fictl.kernels.comm.reduce_scatter.op import reduce_scatter

_CALLS = 20
_ROUNDS = 12
_SKEW_CLOCKS = 200_000  # longer than ranks differ in when they start
_BYTES = [4096 << step for step in range(15)]
OPS = ("all_reduce", "all_reduce_norm", "all_gather", "reduce_scatter")
_TOKENS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048)

Call = Callable[[], object]


def sums(nbytes: int) -> Iterator[tuple[str, Call]]:
    x = torch.randn(nbytes // 2, device="cuda").to(torch.bfloat16)
    out = torch.empty_like(x)
    for way in NAMED:
        yield way, partial(all_reduce, x, out, workspace(), way)
    yield "nccl", partial(dist.all_reduce, out)
    yield "symmetric", _late(symmetric_all_reduce, x)
    yield "flashinfer", _late(flashinfer_all_reduce, x)


def norms(tokens: int, hidden: int) -> Iterator[tuple[str, Call]]:
    x = torch.randn(tokens, hidden, device="cuda").to(torch.bfloat16)
    residual, weight = torch.randn_like(x), torch.ones_like(x[0])
    given: dict[str, Any] = {"out": torch.empty_like(x), "residual_out": torch.empty_like(x)}
    for way in NAMED:
        how = {**given, "workspace": workspace(), "strategy": way}
        yield way, partial(all_reduce_norm, x, residual, weight, **how)
    yield "flashinfer", _late(flashinfer_norm, x, residual, weight, 1e-6)


def gathers(nbytes: int) -> Iterator[tuple[str, Call]]:
    out = torch.empty(nbytes // 2, device="cuda", dtype=torch.bfloat16)
    x = torch.randn(len(out) // dist.get_world_size(), device="cuda").to(torch.bfloat16)
    yield "fictl", partial(all_gather, x, out)
    yield "nccl", partial(dist.all_gather_into_tensor, out, x)


def scatters(nbytes: int) -> Iterator[tuple[str, Call]]:
    x = torch.randn(nbytes // 2, device="cuda").to(torch.bfloat16)
    out = torch.empty(len(x) // dist.get_world_size(), device="cuda", dtype=torch.bfloat16)
    yield "fictl", partial(reduce_scatter, x, out)
    yield "nccl", partial(dist.reduce_scatter_tensor, out, x)


@cache
def workspace() -> AllReduceWorkspace:
    return AllReduceWorkspace(None, _BYTES[-1])


def _late(make: Callable[..., Call], *inputs: Any) -> Call:
    """Return a call of what is made at its first one: a peer that cannot be used is left out then."""
    made: list[Call] = []

    def call() -> object:
        if not made:
            made.append(make(*inputs))
        return made[0]()

    return call


def timed(call: Call) -> float:
    """Return the median time of a call, in us, of the rank that took longest."""
    for _ in range(2):
        call()
    torch.cuda.synchronize()
    dist.barrier()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(_CALLS):
            call()
    here = torch.ones(1, device="cuda")
    times = []
    for _ in range(_ROUNDS + 2):
        dist.all_reduce(here)
        torch.cuda._sleep(_SKEW_CLOCKS)
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        took = torch.tensor([begin.elapsed_time(end) * 1e3 / _CALLS], device="cuda")
        dist.all_reduce(took, op=dist.ReduceOp.MAX)
        times.append(took.item())
    return statistics.median(times[2:])


def row_of(sides: Iterator[tuple[str, Call]]) -> dict[str, float]:
    row = {}
    for name, call in sides:
        try:
            row[name] = round(timed(call), 2)
        except (ImportError, RuntimeError, ValueError):  # On all ranks alike.
            continue
    return row


def sizes_of(op: str) -> Iterator[tuple[dict[str, int], Iterator[tuple[str, Call]]]]:
    if op == "all_reduce_norm":
        for hidden in (4096, 7168):
            for tokens in _TOKENS:
                yield {"hidden": hidden, "tokens": tokens}, norms(tokens, hidden)
        return
    sides = {"all_reduce": sums, "all_gather": gathers, "reduce_scatter": scatters}[op]
    for nbytes in _BYTES:
        yield {"bytes": nbytes}, sides(nbytes)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--save", type=Path)
    parser.add_argument("--ops", default=",".join(OPS), help="default: %(default)s")
    options = parser.parse_args()
    rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
    found: dict[str, list[Any]] = {}
    for op in options.ops.split(","):
        for sizes, sides in sizes_of(op):
            us = row_of(sides)
            found.setdefault(op, []).append({**sizes, "us": us})
            if rank == 0:
                print(op, *sizes.values(), *(f"{way}={one}" for way, one in us.items()), flush=True)
    if rank == 0 and options.save:
        described = {"gpus": dist.get_world_size(), "gpu": torch.cuda.get_device_name()}
        options.save.write_text(json.dumps({**described, **found}, indent=1) + "\n")
    workspace().destroy()
    dist.destroy_process_group()
    return 0


if __name__ == "__main__":
    sys.exit(main())
