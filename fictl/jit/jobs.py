"""Number of compilers to run at once, from cores, available memory, and past builds."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from fictl import settings

# Used before a module's first build: the memory of a heavy CUTLASS unit.
_UNKNOWN_PEAK_KIB = 3 << 20
_RESERVE = 0.9


@dataclass(frozen=True)
class Parallelism:
    jobs: int
    nvcc_threads: int


def choose(
    units: int, device_units: int, archs: int, peak_kib: int, cores: int | None = None
) -> Parallelism:
    """Choose jobs within cores and memory; idle cores go to `nvcc --threads` if it can use them."""
    limit = settings.MAX_JOBS.get()
    cores = cores or limit or usable_cores()
    jobs = max(1, min(cores, limit or fitting(peak_kib), max(units, 1)))
    wanted = settings.NVCC_THREADS.get()
    idle = cores // max(1, min(jobs, device_units or 1))
    return Parallelism(jobs, wanted or max(1, min(archs, idle)))


def fitting(peak_kib: int = 0) -> int:
    """Return the number of compilers of this size that fit into the free memory."""
    return int(available_kib() * _RESERVE) // (peak_kib or _UNKNOWN_PEAK_KIB)


def usable_cores() -> int:
    return len(os.sched_getaffinity(0))


def available_kib(root: Path = Path("/")) -> int:
    """Return the memory still available: the machine's, or the cgroup's if that is less."""
    free = [_machine_free(root), *_cgroup_free(root)]
    return max(0, min(free))


def _machine_free(root: Path) -> int:
    for line in (root / "proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1])
    return _UNKNOWN_PEAK_KIB


def _cgroup_free(root: Path) -> list[int]:
    """Return limit minus usage of this process's cgroup and its parents, for v2 and v1."""
    free = []
    for limit, usage in _cgroup_files(root):
        try:
            most, used = limit.read_text().strip(), int(usage.read_text())
        except (OSError, ValueError):
            continue
        if most.isdigit():
            free.append((int(most) - used + _page_cache(usage.parent)) >> 10)
    return free


def _page_cache(cgroup: Path) -> int:
    """Return bytes that count as used but are freed on demand, such as cached file pages."""
    try:
        lines = (cgroup / "memory.stat").read_text().splitlines()
    except OSError:
        return 0
    values = dict(line.split() for line in lines)
    return int(values.get("total_inactive_file", values.get("inactive_file", 0)))


def _cgroup_files(root: Path) -> list[tuple[Path, Path]]:
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return []
    files = []
    for line in lines:
        _, controllers, path = line.split(":", 2)
        v1 = "memory" in controllers.split(",")
        if controllers and not v1:
            continue
        mount = root / ("sys/fs/cgroup/memory" if v1 else "sys/fs/cgroup")
        names = (
            ("memory.limit_in_bytes", "memory.usage_in_bytes")
            if v1
            else ("memory.max", "memory.current")
        )
        folder = mount / path.lstrip("/")
        for place in (folder, *folder.parents):
            if not place.is_relative_to(mount):
                break
            files.append((place / names[0], place / names[1]))
    return files
