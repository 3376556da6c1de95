"""How fast the emulated device runs kernels, checks them, and has them compiled."""

from __future__ import annotations

import ctypes
import os
import resource
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from sample import Pair, interleave, timed
from yardsticks import nvcc_unit

_ROOT = Path(__file__).resolve().parents[2]
_OPS = Path(__file__).with_suffix(".cu")
_KERNELS = _ROOT / "tests/emu/kernels"
_TIMES = 15
_THREADS = 256
_STEPS = 1000


@dataclass(frozen=True)
class Call:
    """A function of a compiled .cu, and what it is called with."""

    source: Path
    function: str
    arguments: tuple[Any, ...]

    def __call__(self, library: ctypes.CDLL) -> None:
        values = [_c(value) for value in self.arguments]
        status = getattr(library, self.function)(*values)
        assert status == 0, f"{self.function} returned {status}"


def _c(value: Any) -> Any:
    return ctypes.c_void_p(value.data_ptr()) if hasattr(value, "data_ptr") else value


def _scale() -> Call:
    import torch

    n = 1 << 20
    x = torch.rand(n).half()
    return Call(_OPS, "scale_float16", (x, torch.empty_like(x), ctypes.c_int64(n)))


def _rmsnorm() -> Call:
    import torch

    shape = (64, 4096)
    x, weight = torch.rand(shape).half(), torch.rand(shape[1]).half()
    sizes = map(ctypes.c_int64, shape)
    return Call(_OPS, "rmsnorm_float16", (x, weight, torch.empty_like(x), *sizes))


def _gemm() -> Call:
    import torch

    a, b, out = (torch.rand(128, 128).half() for _ in range(3))
    return Call(_KERNELS / "gemm.cu", "gemm_float16", (a, b, out, *[128] * 5))


def _prefill() -> Call:
    import torch

    queries, keys, heads, dim = 128, 256, 8, 128
    query, out = (torch.rand(queries, heads, dim).half() for _ in range(2))
    key, value = (torch.rand(keys, heads, dim).half() for _ in range(2))
    sizes = (queries, keys, heads, heads, dim, True, ctypes.c_float(dim**-0.5))
    return Call(_KERNELS / "prefill.cu", "prefill_float16", (query, key, value, out, *sizes))


def _copy_loop() -> Call:
    import torch

    x = torch.rand(1 << 20).half()
    return Call(_OPS, "copy_loop", (x, torch.empty_like(x), ctypes.c_int64(x.numel())))


def _barriers() -> Call:
    return Call(_OPS, "barriers", (_THREADS, _STEPS))


def _shuffles() -> Call:
    import torch

    out = torch.empty(_THREADS, dtype=torch.int32)
    return Call(_OPS, "shuffles", (_THREADS, _STEPS, out))


KERNELS: dict[str, Callable[[], Call]] = {
    "scale 1M": _scale,
    "rmsnorm 64x4096": _rmsnorm,
    "gemm 128x128x128": _gemm,
    "prefill 128x256, 8 heads": _prefill,
}


def fast(name: str) -> Pair:
    """A call with its blocks on two threads, against a loop that copies a million values."""
    call = KERNELS[name]()
    library = _library(call.source)
    return _pair(_least(lambda: call(library), threads=2), _loop())


def checked(name: str) -> Pair:
    """Check mode against fast mode, on one thread."""
    call = KERNELS[name]()
    plain, checking = (_library(call.source, checked=flag) for flag in (False, True))
    _watch([value for value in call.arguments if hasattr(value, "data_ptr")])
    ours = _least(lambda: call(checking), threads=1)
    yardstick = _least(lambda: call(plain), threads=1)
    reports = _device().take_reports()
    assert not reports, reports[0].text()
    return _pair(ours, yardstick)


def barrier() -> Pair:
    """One thread at __syncthreads(), against one step of the loop."""
    return _step(_barriers())


def shuffle() -> Pair:
    return _step(_shuffles())


def _step(call: Call) -> Pair:
    library = _library(call.source)
    step = _least(lambda: call(library), threads=1) / (_THREADS * _STEPS)
    return _pair(step, _loop() / (1 << 20))


def _loop() -> float:
    call = _copy_loop()
    library = _library(call.source)
    return _least(lambda: call(library), threads=1)


def compile_op() -> Pair:
    """Compile and link a simple op, its binding too, against its kernel as one nvcc unit."""
    from fictl.op import folder_specs
    from fictl.project import find

    return _compile(lambda: folder_specs(find("scale")[0])[0])


def compile_attention() -> Pair:
    return _compile(lambda: _spec(_KERNELS / "prefill.cu"))


def runtime() -> Pair:
    """CPU time that the runtime takes to compile, once a workspace, against one nvcc unit."""
    from fictl.jit.emulation import build_runtime

    def build() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        entry = build_runtime()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        shutil.rmtree(entry.path.parents[1])
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    with tempfile.TemporaryDirectory() as folder, _settings(folder):
        return _pair(min(build() for _ in range(2)), nvcc_unit())


def _compile(spec: Callable[[], Any]) -> Pair:
    def build() -> float:
        # With its objects; the first build is for what is looked up once, and for the runtime.
        shutil.rmtree(spec().build().path.parents[1])
        return timed(lambda: spec().build())

    with _settings(_workspace()):
        return interleave(build, nvcc_unit, 3)


def _pair(ours: float, yardstick: float) -> Pair:
    return Pair(ours, yardstick, ours / yardstick)


def _least(action: Callable[[], object], threads: int) -> float:
    from fictl.emu.schedule import Schedule

    _device().run_under(Schedule(), threads)
    action()
    return min(timed(action) for _ in range(_TIMES))


def _watch(tensors: Sequence[Any]) -> None:
    from fictl.emu.device import Watched

    _device().watch(
        [
            Watched(f"tensor {i}", x.data_ptr(), x.itemsize, tuple(x.shape), x.stride(), True)
            for i, x in enumerate(tensors)
        ]
    )


def _library(source: Path, *, checked: bool = False) -> ctypes.CDLL:
    with _settings(_workspace(), checked=checked):
        path = _spec(source).build().module
        _device()
        return ctypes.CDLL(str(path))


def _spec(source: Path) -> Any:
    from fictl.jit import gen_jit_spec

    return gen_jit_spec(f"perf_{source.stem}", [source], ["-fvisibility=default"])


def _device() -> Any:
    from fictl.jit.emulation import emulated_device

    with _settings(_workspace()):
        return emulated_device()


@cache
def _temporary() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory()


def _workspace() -> str:
    """Empty at first, and gone when this process ends."""
    return _temporary().name


@contextmanager
def _settings(workspace: str, *, checked: bool = False) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(
        FICTL_DEVICE="emu",
        FICTL_EMU_CHECK=str(int(checked)),
        FICTL_WORKSPACE_BASE=workspace,
        FICTL_LOGGING_LEVEL="warning",
    )
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
