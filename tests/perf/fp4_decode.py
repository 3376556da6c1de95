"""Time decoding over caches of 16, 8 and 4 bits, ours and FlashInfer's, in one run; needs a GPU and both.

Each call has a cache of its own, so many of them that none is in L2 when its turn comes; the calls are one
CUDA graph. FlashInfer's sides are left out where it refuses them.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

_DIM, _PAGE = 128, 16
_BYTES = 1 << 30  # of all caches of a side
_REPLAYS = 20
# requests, keys of each, heads of queries, of keys and values
STEPS = (
    (64, 8192, 32, 8),
    (16, 4096, 64, 8),
    (1, 131072, 64, 8),
    (1, 32768, 32, 8),
    (1, 8192, 32, 8),
    (256, 1024, 32, 8),
    (16, 8192, 32, 32),
)
KINDS = {"bf16": torch.bfloat16, "fp8": torch.float8_e4m3fn, "fp4": torch.uint8}

Call = Callable[[], object]


class Step:
    """A batch of equal requests and its page table."""

    def __init__(self, requests: int, keys: int, heads: int, kv_heads: int, layout: str) -> None:
        self.layout, self.heads, self.kv_heads, self.requests = layout, heads, kv_heads, requests
        pages = keys // _PAGE
        self.pages = requests * pages
        self.indptr = torch.arange(requests + 1, dtype=torch.int32) * pages
        self.last = torch.full((requests,), _PAGE, dtype=torch.int32)
        self.indices = torch.randperm(self.pages).int()
        self.q = torch.randn(requests, heads, _DIM, device="cuda").bfloat16()

    def cache(self, kind: str) -> tuple[torch.Tensor, dict[str, Any]]:
        inner = (_PAGE, self.kv_heads) if self.layout == "NHD" else (self.kv_heads, _PAGE)
        shape = self.pages, 2, *inner
        if kind != "fp4":
            made = torch.randn((*shape, _DIM), device="cuda", dtype=torch.bfloat16)
            return made.to(KINDS[kind]), {}
        packed = torch.randint(0, 256, (*shape, _DIM // 2), device="cuda", dtype=torch.uint8)
        scales = torch.randint(40, 60, (*shape, _DIM // 16), device="cuda", dtype=torch.uint8)
        scales = scales.view(torch.float8_e4m3fn)
        return packed, {"kv_cache_sf": scales, "k_scale": 1.0, "v_scale": 1.0}

    def calls(self, wrapper: Any, kind: str) -> list[Call]:
        wrapper.plan(
            self.indptr,
            self.indices.cuda(),
            self.last,
            *(self.heads, self.kv_heads, _DIM, _PAGE),
            q_data_type=torch.bfloat16,
            kv_data_type=KINDS[kind],
        )
        first, _ = self.cache(kind)
        count = max(2, _BYTES // (first.numel() * first.element_size()))
        out = torch.empty_like(self.q)
        made = [self.cache(kind) for _ in range(count)]
        return [lambda x=x, how=how: wrapper.run(self.q, x, out=out, **how) for x, how in made]


def graph_us(calls: list[Call]) -> float:
    """Median of one call."""
    calls[0]()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for call in calls:
            call()
    graph.replay()
    times = []
    for _ in range(_REPLAYS):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        graph.replay()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end) * 1e3 / len(calls))
    return statistics.median(times)


def sides(layout: str) -> dict[str, Callable[[], Any]]:
    def workspace() -> torch.Tensor:
        return torch.empty(256 << 20, dtype=torch.uint8, device="cuda")

    def ours() -> Any:
        from fictl import ops

        return ops.BatchDecodeWithPagedKVCacheWrapper(workspace(), layout)

    def theirs() -> Any:
        import flashinfer

        return flashinfer.BatchDecodeWithPagedKVCacheWrapper(
            workspace(), layout, use_tensor_cores=True
        )

    return {"fictl": ours, "flashinfer": theirs}


def measured(step: Step, layout: str) -> dict[str, float | str]:
    found: dict[str, float | str] = {}
    for side, make in sides(layout).items():
        for kind in KINDS:
            try:
                found[f"{side} {kind}"] = round(graph_us(step.calls(make(), kind)), 2)
            except Exception as error:
                if side == "fictl":
                    raise
                found[f"{side} {kind}"] = f"{type(error).__name__}: {error}"[:80]
            torch.cuda.empty_cache()
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layout", default="NHD", choices=("NHD", "HND"))
    parser.add_argument("--save", type=Path, help="write the table as JSON")
    options = parser.parse_args()
    table = {}
    for sizes in STEPS:
        what = "{}x{}, {} heads, {} of keys".format(*sizes)
        table[what] = found = measured(Step(*sizes, options.layout), options.layout)
        eight, four = found["fictl fp8"], found["fictl fp4"]
        assert isinstance(eight, float)
        assert isinstance(four, float)
        print(f"{what:32} {found}  fp8 / fp4 {eight / four:.2f}", flush=True)
    if options.save:
        facts = {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__}
        text = json.dumps({**facts, "layout": options.layout, "us": table}, indent=1)
        options.save.write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
