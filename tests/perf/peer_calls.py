"""Host time of one call with `out=`: ours, FlashInfer's, and the bare FFI call; needs a GPU and FlashInfer."""

from __future__ import annotations

import argparse
import contextlib
import json
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager as ContextManager
from pathlib import Path

import torch

_CALLS = 2000
_ROUNDS = 15


def sides() -> dict[str, Callable[[], object]]:
    import flashinfer

    import fictl.ops
    from fictl.kernels.norm.rmsnorm.op import kernel

    x = torch.randn(8, 1024, device="cuda", dtype=torch.bfloat16)
    w = torch.ones(1024, device="cuda", dtype=torch.bfloat16)
    out = torch.empty_like(x)
    fictl.ops.rmsnorm(x, w, out=out)
    ffi = kernel.bare("rmsnorm")
    return {
        "ffi": lambda: ffi(out, x, w, 1e-6, True),
        "fictl": lambda: fictl.ops.rmsnorm(x, w, out=out),
        "flashinfer": lambda: flashinfer.rmsnorm(x, w, out=out),
    }


def host_us(call: Callable[[], object]) -> float:
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(_CALLS):
        call()
    seconds = time.perf_counter() - start
    torch.cuda.synchronize()
    return seconds / _CALLS * 1e6


def measure(
    calls: Mapping[str, Callable[[], object]], enter: Callable[[], ContextManager[object]]
) -> tuple[dict[str, float], dict[str, float]]:
    """By side: the median, and the median of what it took over the FFI call beside it."""
    with enter():
        samples = [{name: host_us(call) for name, call in calls.items()} for _ in range(_ROUNDS)]
    median = {name: statistics.median(row[name] for row in samples) for name in calls}
    excess = {n: statistics.median(row[n] - row["ffi"] for row in samples) for n in calls}
    return median, excess


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--save", type=Path)
    options = parser.parse_args()
    calls = sides()
    for call in calls.values():
        host_us(call)
    modes = {"grad mode": contextlib.nullcontext, "inference mode": torch.inference_mode}
    measured = {mode: measure(calls, enter) for mode, enter in modes.items()}
    for mode, (median, excess) in measured.items():
        for name in calls:
            took = f"{median[name]:8.2f} us   {excess[name]:+6.2f} over the FFI call"
            print(f"{name:12}{took}, {mode}")
    if options.save:
        import flashinfer

        about = {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__}
        peer = {"flashinfer": flashinfer.__version__}
        rows = {mode: {"median_us": m, "excess_us": e} for mode, (m, e) in measured.items()}
        data = {**about, **peer, **rows}
        options.save.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    return int(any(over["fictl"] >= over["flashinfer"] for _, over in measured.values()))


if __name__ == "__main__":
    sys.exit(main())
