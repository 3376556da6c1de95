"""Host time of an eager decode step, a plan and a run for each layer, beside FlashInfer's.

`python tests/gpu/host_time.py --layers 32`, on a GPU with flashinfer-python installed.
"""

from __future__ import annotations

import argparse
import importlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch

import fictl.compat.flashinfer as ours
from fictl.cli.gpu_use import alone
from fictl.timing.host_overhead import host_overhead
from fictl.version import describe

_HEADS, _KV_HEADS, _DIM, _PAGE = 32, 8, 128, 16
_TOKENS = 2048
_REQUESTS = (1, 16, 64)
_ROUNDS = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layers", type=int, default=32, metavar="COUNT")
    parser.add_argument("--save", type=Path, metavar="FILE")
    options = parser.parse_args()
    with alone(None):
        rows = [*_rows(options.layers)]
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, {describe()}")
    print(f"{'requests':>9}{'part':>8}{'fictl us':>10}{'FlashInfer us':>15}{'ratio':>8}")
    for row in rows:
        times = f"{row['fictl_us']:>10.1f}{row['flashinfer_us']:>15.1f}{row['ratio']:>8.2f}"
        print(f"{row['requests']:>9}{row['part']:>8}{times}")
    if options.save:
        options.save.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def _rows(layers: int) -> Iterator[dict[str, Any]]:
    theirs = importlib.import_module("flashinfer")
    for requests in _REQUESTS:
        # In turns, so that what else the host does meets both.
        rounds = [[_times(names, requests) for names in (ours, theirs)] for _ in range(_ROUNDS)]
        fastest = [
            [min(one[side][part] for one in rounds) for part in range(2)] for side in range(2)
        ]
        sides = [{"plan": plan, "run": run, "step": plan + layers * run} for plan, run in fastest]
        for part in ("plan", "run", "step"):
            mine, other = (side[part] * 1e6 for side in sides)
            yield {
                "requests": requests,
                "part": part,
                "fictl_us": mine,
                "flashinfer_us": other,
                "ratio": mine / other,
            }


def _times(names: Any, requests: int) -> tuple[float, float]:
    """Return the host's seconds of plan() and of run(), as vLLM calls them."""
    plan, run = _step(names, requests)
    plan()
    return host_overhead(plan), host_overhead(run)


def _step(names: Any, requests: int) -> tuple[Callable[[], object], Callable[[], object]]:
    pages = _TOKENS // _PAGE
    indptr = torch.arange(requests + 1, dtype=torch.int32) * pages
    indices = torch.randperm(requests * pages, dtype=torch.int32, device="cuda")
    last = torch.full((requests,), _PAGE, dtype=torch.int32)
    cache = torch.zeros(
        requests * pages, 2, _PAGE, _KV_HEADS, _DIM, dtype=torch.bfloat16, device="cuda"
    )
    q = torch.zeros(requests, _HEADS, _DIM, dtype=torch.bfloat16, device="cuda")
    out = torch.empty_like(q)
    workspace = torch.zeros(128 << 20, dtype=torch.uint8, device="cuda")
    wrapper = names.BatchDecodeWithPagedKVCacheWrapper(workspace, "NHD", use_tensor_cores=True)
    sizes = (_HEADS, _KV_HEADS, _DIM, _PAGE)
    dtypes = {"q_data_type": torch.bfloat16, "kv_data_type": torch.bfloat16}
    return (
        lambda: wrapper.plan(indptr, indices, last, *sizes, **dtypes),
        lambda: wrapper.run(q, cache, out=out),
    )


if __name__ == "__main__":
    main()
