"""`scale` beside torch in one run: CUDA graph replays, interleaved, cold L2 by rotating buffers."""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Callable, Iterator
from pathlib import Path

import torch

import fictl.ops
from fictl.cli.gpu_use import alone
from fictl.version import describe

_L2_TIMES = 4
_ROUNDS = 15


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--save", type=Path)
    save = parser.parse_args().save
    with alone(None):
        copy = _copy_bandwidth()
        rows = list(_rows(copy))
    gpu = torch.cuda.get_device_name()
    print(f"{gpu}, copy {copy / 1e12:.2f} TB/s, torch {torch.__version__}, {describe()}")
    print(f"{'case':28}{'fictl us':>10}{'torch us':>10}{'torch/fictl':>12}{'of copy':>9}")
    for row in rows:
        print(
            f"{row['case']:28}{row['fictl_us']:>10.2f}{row['torch_us']:>10.2f}"
            f"{row['ratio']:>11.2f}x{row['of_copy']:>8.0%}"
        )
    if save:
        about = {"gpu": gpu, "torch": torch.__version__, "fictl": describe(), "copy_bytes_s": copy}
        save.write_text(json.dumps({**about, "rows": rows}, indent=1) + "\n", encoding="utf-8")


def _rows(copy: float) -> Iterator[dict[str, float | str]]:
    for dtype in (torch.bfloat16, torch.float32):
        for shape in ((64, 4096), (4096, 4096), (16384, 8192)):
            x = torch.randn(shape, device="cuda").to(dtype)
            ours, theirs = _times(
                x,
                lambda a, b: fictl.ops.scale(a, 2.0, out=b),
                lambda a, b: torch.mul(a, 2.0, out=b),
            )
            moved = 2 * x.numel() * x.element_size()
            yield {
                "case": f"{'x'.join(map(str, shape))} {str(dtype)[6:]}",
                "fictl_us": ours * 1e6,
                "torch_us": theirs * 1e6,
                "ratio": theirs / ours,
                "of_copy": moved / ours / copy,
            }


def _copy_bandwidth() -> float:
    x = torch.empty(1 << 32, dtype=torch.uint8, device="cuda")
    y = torch.empty_like(x)
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    times = []
    for _ in range(10):
        start.record()
        y.copy_(x)
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end) / 1e3)
    return 2 * x.numel() / statistics.median(times)


Call = Callable[[torch.Tensor, torch.Tensor], object]


def _times(x: torch.Tensor, *sides: Call) -> list[float]:
    """Seconds a call of each side: graphs over enough buffers that none is still in L2."""
    l2 = torch.cuda.get_device_properties(0).L2_cache_size
    buffers = max(2, -(-_L2_TIMES * l2 // (2 * x.numel() * x.element_size())))
    pairs = [(x.clone(), torch.empty_like(x)) for _ in range(buffers)]
    graphs = [_graph(side, pairs) for side in sides]
    samples: list[list[float]] = [[] for _ in sides]
    for _ in range(_ROUNDS):
        for graph, found in zip(graphs, samples, strict=True):
            found.append(_replay(graph) / buffers)
    return [statistics.median(found) for found in samples]


def _graph(side: Call, pairs: list[tuple[torch.Tensor, torch.Tensor]]) -> torch.cuda.CUDAGraph:
    side(*pairs[0])
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for pair in pairs:
            side(*pair)
    graph.replay()
    return graph


def _replay(graph: torch.cuda.CUDAGraph) -> float:
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    graph.replay()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / 1e3


if __name__ == "__main__":
    main()
