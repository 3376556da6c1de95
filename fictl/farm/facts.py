"""Facts of the place that a worker runs at, which it says first."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from fictl.errors import FictlError
from fictl.farm.line import PROTOCOL, Greeting, Ready
from fictl.farm.place import hardware_of
from fictl.gpu_lock.hold import GpuBusy, held
from fictl.gpu_lock.visible import visible
from fictl.jit.jobs import usable_cores
from fictl.paths import cache_root, data_root, files_below
from fictl.version import VERSION, commit


def facts_of(greeting: Greeting) -> Ready:
    """Describe this place for a device; a greeting of another protocol gets versions only."""
    ready = Ready(PROTOCOL, VERSION, platform.python_version(), "")
    if greeting.protocol != PROTOCOL:
        return ready
    hardware = hardware_of(greeting.device)[:1] if greeting.device else ()
    libc = "".join(platform.libc_ver())
    return Ready(
        PROTOCOL,
        VERSION,
        platform.python_version(),
        "".join(hardware),
        commit=commit(),
        torch=_torch(),
        platform=f"{platform.machine()}-{platform.system().lower()}-{libc}".lower(),
        host=platform.node(),
        cores=usable_cores(),
        free_bytes=_free(),
        kernels=kernels_digest(),
        **(_gpu() if greeting.device == "cuda" else {}),
        toolchain=_toolchain(greeting.compiles),
        exposed=_exposed() if greeting.untrusted or greeting.checks else "",
        **(_checked(greeting.device) if greeting.checks else {}),
    )


def kernels_digest() -> str:
    """Hash the shipped ops, which a checkout may have edited since its commit."""
    root, digest = data_root("kernels"), hashlib.sha256()
    for path in files_below(root):
        if "__pycache__" not in path.parts:
            name = str(path.relative_to(root)).encode()
            digest.update(b"%d %b %d " % (len(name), name, path.stat().st_size))
            digest.update(path.read_bytes())
    return digest.hexdigest()


def _toolchain(device: str) -> dict[str, str]:
    if not device:
        return {}
    from fictl.farm.compilers import compilers_here

    return compilers_here(device)


def _checked(device: str) -> dict[str, str]:
    """Return what `fictl farm check` shows besides."""
    return {"sandbox": _sandbox(), "nvcc": _nvcc(), **_lock(device)}


def _sandbox() -> str:
    from fictl.judge.process.spawn import zygote

    try:
        return zygote().policy.label
    except FictlError as error:
        return f"none: {error.message}"


def _exposed() -> str:
    from fictl.judge.process.spawn import zygote
    from fictl.judge.sandbox.policy import require

    try:
        require(zygote().policy)
    except FictlError as error:
        return error.message
    return ""


def _nvcc() -> str:
    from fictl.toolchain import find_nvcc

    try:
        nvcc = find_nvcc()
    except FictlError as error:
        return f"none: {error.message}"
    return nvcc.release if nvcc else ""


def _lock(device: str) -> dict[str, str]:
    """Name who holds the GPU now, or why nobody can."""
    gpus = visible()[:1] if device == "cuda" else ()
    try:
        with held(gpus, wait=0.0):
            return {}
    except GpuBusy as error:
        return {"holder": error.message}
    except FictlError as error:
        return {"unlocked": error.message}


def _torch() -> str:
    try:
        return version("torch")
    except PackageNotFoundError:
        return ""


def _free() -> int:
    """Free bytes where the cache is, or will be."""
    folder = cache_root()
    while not os.path.isdir(folder) and folder != folder.parent:
        folder = folder.parent
    with suppress(OSError):
        return shutil.disk_usage(folder).free
    return 0


def _gpu() -> dict[str, Any]:
    from fictl.timing.gpu_state import gpu_state

    try:
        state = gpu_state()
    except FictlError:
        state = None
    if state is None:
        return {}
    clocks = f"{state.sm_mhz} of {state.max_sm_mhz} MHz" if state.max_sm_mhz else ""
    return {"gpu": state.name, "uuid": state.uuid, "driver": state.driver, "clocks": clocks}
