"""Run of the probe in another process: loaded, launched on every GPU, traced by CUPTI."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from importlib import metadata
from typing import TYPE_CHECKING

from fictl.doctor.finding import DoctorFinding, ok, warning
from fictl.doctor.probe_steps import LAUNCH, LOAD, TRACE, after, failed, not_run
from fictl.errors import FictlError
from fictl.jit.store.entry import Entry
from fictl.process import Finished, run
from fictl.toolchain import cudart_name, find_cudart

if TYPE_CHECKING:
    from fictl.doctor.facts import Facts

_SECONDS = 90.0

# Without torch, which tvm_ffi imports if it can: that takes ten times as long as the rest. The CUDA
# runtime, which it would load, is the last argument.
_BEGIN = """
import ctypes, sys
ctypes.CDLL(sys.argv.pop())
sys.modules["torch"] = None
import tvm_ffi
"""
_LOAD = f"""{_BEGIN}
module = tvm_ffi.load_module(sys.argv[1])
print("loaded", flush=True)
for device in sys.argv[2:]:
    print("wrong", device, module.launch(int(device)), flush=True)
"""
_TRACED = f"""
from cupti import cupti
{_BEGIN}
kernel, kinds = cupti.ActivityKind.CONCURRENT_KERNEL, []
cupti.activity_register_callbacks(
    lambda: (1 << 20, 0), lambda batch: kinds.extend(record.kind for record in batch)
)
cupti.activity_enable(kernel)
tvm_ffi.load_module(sys.argv[1]).launch(0)
cupti.activity_flush_all(1)
print("kernels", kinds.count(kernel), flush=True)
"""

_CAUSES = {
    "cudaErrorNoKernelImageForDevice": "unset FICTL_CUDA_ARCH_LIST, or add the GPU's architecture",
    "cudaErrorInsufficientDriver": "update the driver, or use an older nvcc: FICTL_NVCC",
    "cudaErrorMemoryAllocation": "another program fills the GPU: nvidia-smi; end it",
    "cudaErrorDevicesUnavailable": "another program has the GPU to itself: nvidia-smi -c DEFAULT",
    "cudaErrorSystemNotReady": "systemctl restart nvidia-fabricmanager",
    "noexec": "set FICTL_WORKSPACE_BASE to a folder on a file system that runs programs",
    "failed to map segment": "set FICTL_WORKSPACE_BASE to a folder on a file system that runs programs",
    "GLIBCXX": "the C++ library in use is older than the compiler's: conda install libstdcxx-ng, or CXX",
}


def loaded(entry: Entry, facts: Facts) -> Iterator[DoctorFinding]:
    devices = [str(gpu.index) for gpu in facts.gpus.gpus]
    done = child(_LOAD, str(entry.module), *devices, _cudart(entry))
    if "loaded\n" not in done.output:
        yield failed(
            LOAD,
            _last_words(done),
            _cause(done.output, "pip install --force-reinstall apache-tvm-ffi"),
        )
        yield from after(LOAD)
        return
    yield ok(LOAD, f"in {done.seconds:.1f} s, in a process of its own")
    if not devices:
        yield not_run(LAUNCH, "there is no GPU", "run `fictl doctor` where there is one")
        return
    launched = _launched(done, devices)
    yield launched
    if launched.level == "ok":
        yield from traced(entry)


def _launched(done: Finished, devices: list[str]) -> DoctorFinding:
    results = dict(
        line.split()[1:] for line in done.output.splitlines() if line.startswith("wrong ")
    )
    bad = [device for device in devices if results.get(device) != "0"]
    if not bad and done.code == 0:
        many = f"each of {len(devices)} GPUs" if len(devices) > 1 else "the GPU"
        return ok(LAUNCH, f"65536 right numbers on {many}")
    device = bad[0] if bad else devices[-1]
    wrong = results.get(device, "")
    if wrong.isdigit() and wrong != "0":
        text = f"GPU {device}: {wrong} of 65536 numbers are wrong"
        return failed(
            LAUNCH, text, "the GPU or its memory is faulty: nvidia-smi -q -d ECC,ROW_REMAPPER"
        )
    text = f"GPU {device}: {_last_words(done)}"
    return failed(LAUNCH, text, _cause(done.output, "nvidia-smi; sudo dmesg | grep -i xid"))


def traced(entry: Entry) -> Iterator[DoctorFinding]:
    try:
        metadata.version("cupti-python")
    except metadata.PackageNotFoundError:
        return  # Said by its own check.
    done = child(_TRACED, str(entry.module), _cudart(entry))
    if "kernels 1\n" in done.output:
        yield ok(TRACE, "one launch, one record")
        return
    text = f"{_last_words(done)}: timing falls back to CUDA graphs and events"
    yield warning(TRACE, text, "end other profilers; in a container: --cap-add=SYS_ADMIN")


def _cudart(entry: Entry) -> str:
    return str(find_cudart(entry.manifest.cudart) or cudart_name(entry.manifest.cudart))


def child(code: str, *words: str) -> Finished:
    # That process must find the packages that this one imports.
    path = os.pathsep.join(filter(None, sys.path))
    try:
        return run([sys.executable, "-c", code, *words], env={"PYTHONPATH": path}, timeout=_SECONDS)
    except FictlError as problem:
        return Finished((), -signal.SIGKILL, problem.message, _SECONDS)


def _last_words(done: Finished) -> str:
    lines = [
        line
        for line in done.output.strip().splitlines()
        if not line.startswith(("loaded", "wrong"))
    ]
    killed = f"ended by {signal.Signals(-done.code).name}" if done.code < 0 else ""
    return ": ".join(filter(None, (killed, lines[-1] if lines else ""))) or f"exit code {done.code}"


def _cause(output: str, otherwise: str) -> str:
    return next((fix for sign, fix in _CAUSES.items() if sign in output), otherwise)
