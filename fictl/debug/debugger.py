"""The debugger of a device: cuda-gdb or gdb, and a check that it works here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from fictl.errors import SetupError
from fictl.process import TimedOut, run
from fictl.toolchain import find_nvcc, find_tool

_SECONDS = 60.0
_NO_PTRACE = ("ptrace: Operation not permitted", "Could not trace the inferior")
_TRIES = ("python print('has Python')", "starti", "kill")


@dataclass(frozen=True)
class Debugger:
    """A debugger; `name` is cuda-gdb or gdb."""

    name: str
    path: Path

    has_python: bool = False

    def checked(self) -> Debugger:
        """Raise unless it starts and may attach to a process; gdb also needs Python."""
        tries = [word for command in _TRIES for word in ("-ex", command)]
        try:
            output = run([self.path, "-nx", "-batch", *tries, "/bin/true"], timeout=_SECONDS).output
        except TimedOut:
            raise SetupError(f"{self.path} does not answer", "does it run by hand?") from None
        if any(sign in output for sign in _NO_PTRACE):
            raise SetupError(
                f"{self.name} may not look into other processes here (ptrace)",
                "in a container: start it with --cap-add=SYS_PTRACE; "
                "else, as root: sysctl kernel.yama.ptrace_scope=0",
            )
        has_python = "has Python" in output.splitlines()
        if self.name == "gdb" and not has_python:
            raise SetupError(f"{self.path} has no Python in it, or does not start", _GDB)
        if "Program stopped" not in output:
            last = next(reversed(output.strip().splitlines()), "nothing")
            raise SetupError(f"{self.path} does not work here: {last}", _install(self.name))
        return replace(self, has_python=has_python)


_GDB = "apt install gdb (gdb-minimal has no Python)"


def find_debugger(device: str) -> Debugger:
    """Find the debugger of a device; a SetupError says how to install it."""
    name = "cuda-gdb" if device == "cuda" else "gdb"
    path = find_tool(name)
    if path is None:
        without = "; --device emu debugs with gdb, without a GPU" if device == "cuda" else ""
        raise SetupError(f"{name} was not found", _install(name) + without)
    return Debugger(name, path)


def _install(name: str) -> str:
    if name == "gdb":
        return _GDB
    nvcc = find_nvcc()
    release = nvcc.release.replace(".", "-") if nvcc else "13-0"
    return f"apt install cuda-gdb-{release}, or add the folder of {name} to PATH"
