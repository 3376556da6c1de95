"""Time a call at the sizes of a decode step, in a CUDA graph of forty: ours and FlashInfer's; needs both.

Each call has tensors of its own and follows another of its kind, as layers do: with programmatic
dependent launch it starts while the one before ends.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch

_CALLS = 40
_REPLAYS = 20

Call = Callable[..., object]
Case = tuple[str, Callable[[], tuple[Any, ...]], Call, Call]


def cases() -> Iterator[Case]:
    """(what, its tensors, ours, FlashInfer's)."""
    import flashinfer

    from fictl import ops

    for rows, hidden in ((1, 4096), (16, 4096), (64, 8192), (128, 4096)):
        yield (
            f"rmsnorm {rows}x{hidden}",
            lambda n=rows, h=hidden: (_random(n, h), _random(h), _random(n, h)),
            lambda x, w, out: ops.rmsnorm(x, w, out=out),
            lambda x, w, out: flashinfer.rmsnorm(x, w, out=out),
        )
    yield (
        "fused_add_rmsnorm 16x4096",
        lambda: (_random(16, 4096), _random(16, 4096), _random(4096)),
        ops.fused_add_rmsnorm,
        flashinfer.fused_add_rmsnorm,
    )
    yield (
        "layernorm 16x4096",
        lambda: (_random(16, 4096), *(_random(4096, dtype=torch.float32) for _ in range(2))),
        ops.layernorm,
        flashinfer.layernorm,
    )
    for rows in (1, 16):
        yield (
            f"silu_and_mul {rows}x14336",
            lambda n=rows: (_random(n, 28672), _random(n, 14336)),
            lambda x, out: ops.silu_and_mul(x, out=out),
            lambda x, out: flashinfer.silu_and_mul(x, out=out),
        )
    for tokens in (1, 16, 64):
        yield (
            f"apply_rope_pos_ids_inplace {tokens}x(32+8)x128",
            lambda n=tokens: (_random(n, 32, 128), _random(n, 8, 128), _positions(n)),
            ops.apply_rope_pos_ids_inplace,
            flashinfer.apply_rope_pos_ids_inplace,
        )
    for tokens in (1, 16):
        yield (
            f"merge_state {tokens}x32x128",
            lambda n=tokens: (*_state(n), *_state(n)),
            ops.merge_state,
            flashinfer.merge_state,
        )
    for tokens in (1, 64):
        yield (
            f"append_paged_kv_cache {tokens}x8x128",
            lambda n=tokens: _appended(n),
            ops.append_paged_kv_cache,
            flashinfer.append_paged_kv_cache,
        )


def graph_us(make: Callable[[], tuple[Any, ...]], call: Call) -> float:
    """Of one call."""
    arguments = [make() for _ in range(_CALLS)]
    call(*arguments[0])
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for each in arguments:
            call(*each)
    graph.replay()
    times = []
    for _ in range(_REPLAYS):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        graph.replay()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end) * 1e3 / _CALLS)
    return statistics.median(times)


def _random(*shape: int, dtype: torch.dtype = torch.bfloat16) -> torch.Tensor:
    return torch.randn(shape, device="cuda").to(dtype)


def _state(tokens: int) -> tuple[torch.Tensor, torch.Tensor]:
    return _random(tokens, 32, 128), _random(tokens, 32, dtype=torch.float32)


def _positions(tokens: int) -> torch.Tensor:
    return torch.randint(0, 8192, (tokens,), device="cuda", dtype=torch.int32)


def _appended(requests: int) -> tuple[torch.Tensor, ...]:
    """A token to each request, whose only page has seven."""

    def whole(numbers: Any) -> torch.Tensor:
        return torch.as_tensor(numbers, device="cuda", dtype=torch.int32)

    cache = _random(requests, 2, 16, 8, 128)
    each, starts = whole(range(requests)), whole(range(requests + 1))
    lengths = whole([8] * requests)
    key, value = _random(requests, 8, 128), _random(requests, 8, 128)
    return key, value, each, lengths - 1, cache, each, starts, lengths


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--save", type=Path, help="write the table as JSON")
    found = {}
    save = parser.parse_args().save
    for what, make, ours, theirs in cases():
        found[what] = {"fictl": graph_us(make, ours), "flashinfer": graph_us(make, theirs)}
        said = "  ".join(f"{side} {us:5.2f} us" for side, us in found[what].items())
        print(f"{what:42} {said}")
    if save:
        facts = {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__}
        save.write_text(json.dumps({**facts, "us": found}, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
