"""Reader of `nvcc -fdevice-time-trace`: real seconds of a compile by header and by kernel."""

from __future__ import annotations

import json
import os
import shutil
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fictl.process import ask
from fictl.toolchain import Nvcc

FLAG = "-fdevice-time-trace"


@dataclass(frozen=True)
class DeviceTrace:
    """Seconds over all targets: of headers with their includes, of kernels in cicc and ptxas."""

    headers: dict[Path, float]
    kernels: dict[str, float]


def supported(nvcc: Nvcc) -> bool:
    return FLAG in ask([nvcc.path, "--help"]).output


def read_trace(path: Path) -> DeviceTrace | None:
    """Read the trace; None if it is missing or in a format that this version does not know."""
    try:
        events = json.loads(path.read_text(encoding="utf-8", errors="replace"))["traceEvents"]
        done = [event for event in events if event.get("ph") == "X"]
        headers = _sums(done, "Processing Header File", "detail", os.path.normpath)
        emitted = _sums(done, "Optimizing compilation unit", "name")
        optimised = _sums(done, "OptFunction", "detail")
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return DeviceTrace(
        headers={Path(name): seconds for name, seconds in headers.items()},
        kernels={name: seconds + optimised.get(name, 0.0) for name, seconds in emitted.items()},
    )


def demangled(names: list[str]) -> list[str]:
    """Demangle names and drop parameters; return them unchanged if binutils are not installed."""
    tool = shutil.which("c++filt")
    if tool is None or not names:
        return names
    finished = ask([tool, "--no-params", *names])
    lines = finished.output.splitlines()
    return lines if finished.code == 0 and len(lines) == len(names) else names


def _sums(
    events: list[dict[str, Any]], name: str, key: str, spelt: Callable[[str], str] = str
) -> dict[str, float]:
    total: dict[str, float] = defaultdict(float)
    for event in events:
        if event["name"] == name:
            total[spelt(event["args"][key])] += event["dur"] / 1e6
    return total
