"""What events inside a kernel cost it: python tests/perf/events_overhead.py [rows hidden]

One process, sides interleaved: the release build, the profile build without a recording, with the
blocks that `fictl profile --tool events` chooses by itself, and with all blocks. Needs a GPU.
"""

from __future__ import annotations

import ctypes
import shutil
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import torch
import tvm_ffi

from fictl import settings
from fictl.jit import JitSpec
from fictl.op.folder_specs import folder_specs
from fictl.profile.events.blocks import Blocks
from fictl.profile.events.names import identity
from fictl.profile.events.recorder import Recorder, Room
from fictl.project import find
from fictl.timing.measure import measure
from fictl.timing.side import Side
from fictl.timing.statistics import median
from fictl.timing.stop import Stop

_EVENTS = 16
_WARPS = 8  # of a row of 4096


def main(rows: int, hidden: int) -> None:
    spec = folder_specs(find("rmsnorm")[0])[0]
    x = torch.randn(rows, hidden, device="cuda", dtype=torch.bfloat16)
    weight = torch.ones(hidden, device="cuda", dtype=torch.bfloat16)
    chosen = {"sampled": Blocks(), "all": Blocks(step=1)}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        modules = {"release": tvm_ffi.load_module(str(_built(spec, profile=False)))}
        # Each of its own: what is recorded is decided for a loaded module as a whole.
        library = _built(spec, profile=True)
        for name in ("off", *chosen):
            modules[name] = tvm_ffi.load_module(shutil.copy(library, folder / f"{name}.so"))
        for name, blocks in chosen.items():
            recorder = Recorder("cuda", [ctypes.CDLL(str(folder / f"{name}.so"))])
            stack.enter_context(
                recorder.recording({identity("rmsnorm"): _room(blocks, rows)}, _EVENTS)
            )
        _report(modules, x, weight)


def _built(spec: JitSpec, *, profile: bool) -> Path:
    settings.JIT_PROFILE.set_by_flag("", str(int(profile)))
    return spec.build().module


def _room(blocks: Blocks, grid: int) -> Room:
    picked = blocks.of(grid, _WARPS)
    return Room(picked.start, picked.step, len(picked) * _WARPS)


def _report(modules: dict[str, Any], x: torch.Tensor, weight: torch.Tensor) -> None:
    def side(module: Any) -> Side:
        def make(_copy: int) -> Any:
            source, out = x.clone(), torch.empty_like(x)
            return lambda: module.rmsnorm(out, source, weight, 1e-6, True)

        return Side(make, 2 * x.numel() * x.element_size())

    sides = {name: side(module) for name, module in modules.items()}
    samples = measure(sides, timer="graph", stop=Stop(stdrel=0.001, max_seconds=6.0))
    base = median(samples["release"].seconds)
    for name, each in samples.items():
        seconds = median(each.seconds)
        print(f"{name:8} {1e6 * seconds:8.2f} us  {seconds / base:.4f}x  ({each.timer})")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:] or ("16384", "4096")))
