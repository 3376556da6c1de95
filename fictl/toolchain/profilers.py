"""Finds Nsight Compute and Nsight Systems: PATH, nvcc's folder, installers' folders."""

from __future__ import annotations

import re
from pathlib import Path

from fictl.paths import matching
from fictl.process import ask
from fictl.toolchain.tools import find_tool

_OPT = Path("/opt/nvidia")

# Below /opt/nvidia, best first. Nsight Compute's own nsys can record but not report.
_ELSEWHERE = {
    "ncu": ("nsight-compute/*/ncu",),
    "nsys": ("nsight-systems/*/bin/nsys", "nsight-compute/*/host/target-linux-x64/nsys"),
}

OPEN_COUNTERS = (
    "echo options nvidia NVreg_RestrictProfilingToAdminUsers=0 | sudo tee "
    "/etc/modprobe.d/nvidia-profiling.conf, then reboot; in a container: start it with "
    "--cap-add=SYS_ADMIN"
)


def find_profiler(name: str) -> Path | None:
    """Find ncu or nsys; if several are installed, the newest."""
    tool = find_tool(name)
    if tool:
        return tool
    for pattern in _ELSEWHERE.get(name, ()):
        for path in reversed(matching(_OPT, pattern)):
            return path
    return None


def version_of(path: Path) -> str:
    """Return the version, such as '2025.3.1'; '' if the tool prints none."""
    versions = re.findall(r"\b\d{4}\.\d+(?:\.\d+)*", ask([path, "--version"]).output)
    return ".".join(versions[0].split(".")[:3]) if versions else ""
