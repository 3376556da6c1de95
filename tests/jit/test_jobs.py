"""How many compilers run at once."""

from __future__ import annotations

import os

import pytest

from fictl.jit import jobs
from fictl.jit.jobs import Parallelism, available_kib, choose, usable_cores

GIB = 1 << 20  # in KiB


@pytest.fixture
def machine(tmp_path):
    """A root folder with the files that the kernel would show; values in bytes."""

    def make(cgroup: str = "", free_gib: int = 64, **files: str):
        (tmp_path / "proc/self").mkdir(parents=True)
        meminfo = f"MemTotal: {99 * GIB} kB\nMemAvailable:   {free_gib * GIB} kB\n"
        (tmp_path / "proc/meminfo").write_text(meminfo)
        if cgroup:
            (tmp_path / "proc/self/cgroup").write_text(cgroup)
        for name, text in files.items():
            path = tmp_path / "sys/fs/cgroup" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return tmp_path

    return make


def _bytes(gib):
    return f"{gib << 30}\n"


def test_without_a_cgroup_it_is_the_machine_s_free_memory(machine):
    assert available_kib(machine()) == 64 * GIB


def test_a_v2_limit_counts_less_what_is_used(machine):
    files = {"job/memory.max": _bytes(8), "job/memory.current": _bytes(3)}
    assert available_kib(machine("0::/job\n", **files)) == 5 * GIB


def test_a_limit_of_a_parent_counts_too(machine):
    files = {
        "a/memory.max": _bytes(4),
        "a/memory.current": _bytes(1),
        "a/b/memory.max": "max\n",
        "a/b/memory.current": _bytes(1),
    }
    assert available_kib(machine("0::/a/b\n", **files)) == 3 * GIB


def test_a_container_that_sees_only_its_own_cgroup_is_found_at_the_mount(machine):
    files = {"memory.max": _bytes(2), "memory.current": _bytes(1)}
    assert available_kib(machine("0::/../../seen/from/outside\n", **files)) == 1 * GIB


def test_page_cache_is_not_in_use(machine):
    files = {
        "job/memory.max": _bytes(8),
        "job/memory.current": _bytes(8),
        "job/memory.stat": f"anon 1\ninactive_file {6 << 30}\n",
    }
    assert available_kib(machine("0::/job\n", **files)) == 6 * GIB


def test_a_v1_limit_counts_less_what_is_used(machine):
    files = {
        "memory/job/memory.limit_in_bytes": _bytes(6),
        "memory/job/memory.usage_in_bytes": _bytes(4),
        "memory/job/memory.stat": f"inactive_file 0\ntotal_inactive_file {1 << 30}\n",
    }
    cgroup = "12:cpu,cpuacct:/elsewhere\n9:memory:/job\n0::/other\n"
    assert available_kib(machine(cgroup, **files)) == 3 * GIB


def test_a_limit_above_the_machine_s_memory_is_none(machine):
    files = {"memory/memory.limit_in_bytes": str(2**63), "memory/memory.usage_in_bytes": "0"}
    assert available_kib(machine("9:memory:/\n", **files)) == 64 * GIB


def test_files_that_cannot_be_read_are_passed_over(machine):
    files = {"job/memory.max": "what\n", "job/memory.current": "?\n"}
    assert available_kib(machine("0::/job\n", **files)) == 64 * GIB


def test_used_up_memory_is_nothing_and_not_negative(machine):
    files = {"job/memory.max": _bytes(2), "job/memory.current": _bytes(3)}
    assert available_kib(machine("0::/job\n", **files)) == 0


@pytest.fixture
def room(monkeypatch):
    def make(gib, cores=16):
        monkeypatch.setattr(jobs, "available_kib", lambda: gib * GIB)
        monkeypatch.setattr(jobs, "usable_cores", lambda: cores)

    return make


@pytest.mark.parametrize(
    ("gib", "cores", "units", "peak", "expected"),
    [
        (64, 16, 8, 1 * GIB, 8),  # no more than units
        (64, 4, 8, 1 * GIB, 4),  # than cores
        (8, 16, 8, 2 * GIB, 3),  # than fit into nine tenths of the memory
        (8, 16, 8, 0, 2),  # a module that was never built is taken for a heavy one
        (0, 16, 8, 1 * GIB, 1),  # one job always runs
        (64, 16, 0, 0, 1),  # also for a link alone
    ],
)
def test_jobs_keep_within_units_cores_and_memory(room, gib, cores, units, peak, expected):
    room(gib, cores)
    assert choose(units, 0, 1, peak).jobs == expected


def test_the_user_s_number_of_jobs_decides(room, monkeypatch):
    room(1, cores=2)
    monkeypatch.setenv("FICTL_MAX_JOBS", "6")
    assert choose(8, 0, 1, 4 * GIB).jobs == 6
    monkeypatch.delenv("FICTL_MAX_JOBS")
    monkeypatch.setenv("MAX_JOBS", "5")
    assert choose(8, 0, 1, 4 * GIB).jobs == 5


def test_a_share_of_the_cores_is_kept_to(room, monkeypatch):
    room(64)
    monkeypatch.setenv("FICTL_MAX_JOBS", "8")
    assert choose(8, 0, 1, 1, cores=2).jobs == 2


@pytest.mark.parametrize(
    ("device_units", "archs", "expected"),
    [(1, 4, 4), (1, 32, 16), (2, 4, 4), (4, 8, 4), (8, 8, 2), (0, 4, 4), (1, 1, 1)],
)
def test_idle_cores_go_to_nvcc_threads(room, device_units, archs, expected):
    room(64)
    units = max(device_units, 1)
    assert choose(units, device_units, archs, 1).nvcc_threads == expected


def test_the_user_s_number_of_threads_decides(room, monkeypatch):
    room(64)
    monkeypatch.setenv("FICTL_NVCC_THREADS", "3")
    assert choose(1, 1, 1, 1) == Parallelism(jobs=1, nvcc_threads=3)


def test_cores_are_those_that_this_process_may_use(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3, 7, 9})
    assert usable_cores() == 3
