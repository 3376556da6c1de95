"""Checks of CUPTI, its permission, and NVIDIA's tools for kernels."""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from fictl.doctor.finding import DoctorFinding, ok, warning
from fictl.doctor.python_packages import torch_cuda
from fictl.errors import SetupError
from fictl.process import run
from fictl.toolchain.profilers import OPEN_COUNTERS, find_profiler

if TYPE_CHECKING:
    from fictl.doctor.facts import Facts

_PARAMETERS = Path("/proc/driver/nvidia/params")
_STATUS = Path("/proc/self/status")
_FALLBACK = "timing falls back to CUDA graphs and events"
_SECONDS = 20.0

# linux/capability.h
_SYS_ADMIN, _PERFMON = 1 << 21, 1 << 38
_PERFMON_SINCE = 565  # driver

# Program -> its purpose, how to install it.
_TOOLS = {
    "compute-sanitizer": (
        "out-of-bounds, race and uninitialised-memory reports on a GPU",
        "apt install cuda-sanitizer-{release}",
    ),
    "ncu": (
        "hardware counters of a kernel",
        "apt install cuda-nsight-compute-{release}",
    ),
    "nsys": (
        "timelines of a whole program",
        "apt install nsight-systems",
    ),
}


def cupti(facts: Facts) -> Iterator[DoctorFinding]:
    """Check that CUPTI is installed and of the right version; `probes` uses it."""
    name = "CUPTI"
    driver = facts.driver.cuda[0] if facts.driver else None
    if driver == 12:
        install = "pip install 'cupti-python>=12,<13'"
    else:
        install = 'pip install "fictl[profile]"'
    try:
        version = metadata.version("cupti-python")
    except metadata.PackageNotFoundError:
        yield warning(name, f"cupti-python is not installed: {_FALLBACK}", install)
        return
    major = int(version.split(".")[0])
    if importlib.util.find_spec("cupti") is None:
        fix = "pip install --force-reinstall cupti-python"
        yield warning(name, f"cupti-python {version} has no module cupti: {_FALLBACK}", fix)
    elif driver is not None and major > driver:
        yield warning(
            name, f"cupti-python {version}, but the driver is {facts.driver}: {_FALLBACK}", install
        )
    elif torch_cuda() not in (None, major):
        text = f"cupti-python {version} beside a torch of CUDA {torch_cuda()}: they load two CUPTIs"
        yield warning(name, text, f"pip install 'cupti-python>={torch_cuda()},<{torch_cuda()}.99'")
    else:
        yield ok(name, f"cupti-python {version}")


def permission(facts: Facts) -> Iterator[DoctorFinding]:
    """Check that this user may read hardware counters."""
    try:
        text = _PARAMETERS.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    name = "profiling permission"
    restricted = re.search(r"^RmProfilingAdminOnly:\s*(\d)", text, re.MULTILINE)
    if restricted is None or restricted[1] == "0":
        yield ok(name, "hardware counters are open to everyone")
    elif _capabilities() & _SYS_ADMIN:
        yield ok(name, "hardware counters are for administrators, and this process is one")
    elif _capabilities() & _PERFMON and _release(facts) >= _PERFMON_SINCE:
        yield ok(name, "hardware counters are for administrators, and this process has CAP_PERFMON")
    else:
        yield warning(
            name,
            f"hardware counters are for administrators only (ERR_NVGPUCTRPERM), and user "
            f"{os.geteuid()} has neither CAP_SYS_ADMIN nor CAP_PERFMON: ncu will refuse",
            OPEN_COUNTERS,
        )


def tools(facts: Facts) -> Iterator[DoctorFinding]:
    release = facts.nvcc.release.replace(".", "-") if facts.nvcc else "13-0"
    for name, (purpose, package) in _TOOLS.items():
        install = package.format(release=release)
        path = find_profiler(name)
        if path is None:
            yield warning(name, f"not found: no {purpose}", f"{install}, or add its folder to PATH")
            continue
        try:
            done = run([path, "--version"], timeout=_SECONDS)
        except SetupError as problem:
            yield warning(name, problem.message, install)
            continue
        version = re.findall(r"\b\d{2,4}\.\d+(?:\.\d+)*", done.output)
        if done.code or not version:
            message = next(reversed(done.output.strip().splitlines()), "nothing")
            yield warning(name, f"{path} does not run: {message}", install)
        else:
            yield ok(name, f"{version[0]}, {path}")


def _capabilities() -> int:
    try:
        match = re.search(r"^CapEff:\s*([0-9a-f]+)", _STATUS.read_text(), re.MULTILINE)
    except OSError:
        return 0
    return int(match[1], 16) if match else 0


def _release(facts: Facts) -> int:
    release = facts.driver.release if facts.driver else ""
    return int(release.split(".")[0]) if release else 0
