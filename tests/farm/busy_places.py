"""Commands at places whose work does not end, and the processes that belong to them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from fictl.child.family import Member, descendants, member
from fictl.paths import same_packages
from fictl.trace import TraceSet
from tests.dataset.samples import definition, solution, workload

TINY = Path(__file__).parents[1] / "tiny_project"
COMMANDS = {
    "build": ("build", "twice", "--arch", "8.0"),
    "test": ("test", "twice", "--device", "emu"),
    "bench": ("bench", "twice", "--device", "emu", "--max-time", "0.1"),
    "evaluate": (
        *("dataset", "run", "dataset", "--device", "cpu", "--iterations", "1"),
        *("--warmup-runs", "0", "--num-trials", "1", "--no-profile-baseline"),
    ),
}
# The emulated device would be compiled first, for a minute.
KINDS = [
    pytest.param(kind, marks=pytest.mark.needs_nvcc if kind == "build" else ()) for kind in COMMANDS
]
# Work that has begun, has an orphan in another session, and does not obey SIGTERM.
_STUCK = """
import os, signal, subprocess, time
def stick(mark={mark!r}):
    if os.path.exists(mark):
        return
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    subprocess.run(["sh", "-c", "setsid sleep 900 &"])
    open(mark, "w").close()
    time.sleep(900)
"""
_COMPILER = """#!/bin/sh
for word; do
    if [ "$word" = -c ] && [ ! -e {mark} ]; then
        trap '' TERM HUP INT
        (setsid sleep 900 &)
        : > {mark}
        while :; do sleep 900; done
    fi
done
exec g++ "$@"
"""
_SOLUTION = """
import ctypes, os, signal, time
def run(x):
    ctypes.CDLL(None).prctl(15, b"stuck", 0, 0, 0)
    if {seconds} > 100:
        stick()
    time.sleep({seconds})
    return x.clone()
def stick():
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        time.sleep(900)
"""


class BusyPlace:
    """A project, a dataset and a place. The first work of this `kind` there makes `mark` and stays;
    every call of a solution takes `seconds`.
    """

    def __init__(
        self,
        folder: Path,
        kind: str,
        launch: str = '["env"]',
        base: str = "",
        seconds: float = 900,
    ) -> None:
        self.folder, self.kind, self._seconds = folder, kind, seconds
        self.mark = folder / "mark"
        project = shutil.copytree(TINY, folder / "tiny")
        self.where = project if kind != "evaluate" else folder
        variables = {"FICTL_WORKSPACE_BASE": base or f"{folder}/far"}
        variables |= {"FICTL_BUSY_PLACE": str(folder)}
        variables |= getattr(self, f"_{kind}")(project)
        pairs = ", ".join(f'{name} = "{value}"' for name, value in variables.items())
        text = f'[[place]]\nname = "far"\nlaunch = {launch}\npython = "{sys.executable}"\n'
        self.on = folder / "places.toml"
        self.on.write_text(f"{text}variables = {{ {pairs}, PYTHONPATH = '{_packages()}' }}\n")

    def driver(self, *more: str) -> subprocess.Popen[bytes]:
        argv = [sys.executable, "-m", "fictl", *COMMANDS[self.kind], "--on", str(self.on), *more]
        own = {"FICTL_WORKSPACE_BASE": str(self.folder / "driver"), **same_packages()}
        return subprocess.Popen(
            argv,
            cwd=self.where,
            env={**os.environ, **own},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def workers(self) -> list[int]:
        """The pids of workers of this place, on whatever side of an ssh server."""
        words = {pid: _read(pid, "cmdline").split(b"\0") for pid in self._marked()}
        return [pid for pid, argv in words.items() if b"fictl.farm.worker" in argv]

    def family(self) -> list[Member]:
        """Workers and their descendants, also those whose parents have ended."""
        pids = {*self._marked(), *(one.pid for w in self.workers() for one in descendants(w))}
        return [one for pid in pids if (one := member(pid))]

    def _marked(self) -> list[int]:
        mark = f"FICTL_BUSY_PLACE={self.folder}".encode()
        pids = map(int, filter(str.isdigit, os.listdir("/proc")))  # noqa: PTH208
        return [pid for pid in pids if mark in _read(pid, "environ").split(b"\0")]

    def until_at_work(self, driver: subprocess.Popen[bytes], seconds: float = 120) -> list[Member]:
        """Wait until the work is stuck; return the family, and all that the driver has started."""
        deadline = time.monotonic() + seconds
        while not self._is_stuck():
            if driver.poll() is not None:
                raise AssertionError(driver.communicate()[1].decode(errors="replace"))
            assert time.monotonic() < deadline
            time.sleep(0.05)
        return [*self.family(), *descendants(driver.pid)]

    def _is_stuck(self) -> bool:
        if self.kind != "evaluate":
            return self.mark.exists()
        # A solution can write nothing where it would be seen, but has a name.
        return any(_read(one.pid, "comm") == b"stuck\n" for one in self.family())

    def _build(self, project: Path) -> dict[str, str]:
        compiler = self.folder / "compiler"
        compiler.write_text(_COMPILER.format(mark=self.mark))
        compiler.chmod(0o755)
        return {"CXX": str(compiler)}

    def _test(self, project: Path) -> dict[str, str]:
        own = project / "tests" / "kernels" / "elementwise" / "test_twice.py"
        own.parent.mkdir(parents=True)
        own.write_text(f"{_STUCK.format(mark=str(self.mark))}\ndef test_it():\n    stick()\n")
        return {}

    def _bench(self, project: Path) -> dict[str, str]:
        bench = next(project.rglob("bench.py"))
        # In the process that measures, where torch is.
        stick = f"{_STUCK.format(mark=str(self.mark))}\nstick()\n"
        bench.write_text(bench.read_text() + stick)
        return {}

    def _evaluate(self, project: Path) -> dict[str, str]:
        root = self.folder / "dataset"
        root.mkdir()
        dataset = TraceSet.from_path(root)
        dataset.add_definition(definition("d"))
        dataset.add_workloads("d", [workload(f"w{n}") for n in range(2)])
        dataset.add_solution(solution("s", "d", code=_SOLUTION.format(seconds=self._seconds)))
        return {}


def left_of(family: list[Member], seconds: float) -> Mapping[int, str]:
    """Wait until these have ended; return those that have not."""
    deadline = time.monotonic() + seconds
    while True:
        alive = [one for one in family if (now := member(one.pid)) and now.began == one.began]
        if not alive or time.monotonic() > deadline:
            return {one.pid: _read(one.pid, "cmdline").decode(errors="replace") for one in alive}
        time.sleep(0.02)


def _packages() -> str:
    return same_packages()["PYTHONPATH"]


def _read(pid: int, name: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""
