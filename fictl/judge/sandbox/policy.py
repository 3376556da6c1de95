"""SandboxPolicy: which restrictions this machine supports, and how a process enters them."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from fictl.errors import SetupError
from fictl.judge.sandbox import kernel, landlock, limits, namespaces, seccomp
from fictl.paths import matching

_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_OTHER_DEVICES = (
    "/dev/nvidia*",
    "/dev/nvidia-caps/*",
    "/dev/nvidia-caps-imex-channels/*",
    "/dev/tty",
)


@dataclass(frozen=True)
class SandboxPolicy:
    """Parts of a sandbox; '' marks a missing part.

    `files` is landlock or mountns; `network` netns or tcp; `processes` proc or pidns; `calls`
    seccomp. pidns is a pid namespace that sees another /proc, in which CUDA looks up the wrong
    process and fails; proc is one with its own /proc. `hidden` folders cannot be read, except for
    `writable` and `shown`.
    """

    files: str = ""
    network: str = ""
    processes: str = ""
    calls: str = ""
    writable: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    memory: int | None = None
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def has_namespaces(self) -> bool:
        return "mountns" in self.files or self.network == "netns"

    @property
    def label(self) -> str:
        """Short name, as results store it."""
        own = self.network if self.network == "netns" else ""
        parts = (self.files, own, self.processes and "pidns", self.calls)
        return "+".join(filter(None, parts)) or "none"

    def to_dict(self) -> dict[str, Any]:
        return {
            "files": self.files,
            "network": self.network,
            "processes": self.processes,
            "calls": self.calls,
            "writable": self.writable,
            "hidden": self.hidden,
            "shown": self.shown,
            "memory": self.memory,
            "environment": self.environment,
        }

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> SandboxPolicy:
        lists = {name: tuple(document[name]) for name in ("writable", "hidden", "shown")}
        return cls(**{**document, **lists})

    def unshare(self) -> None:
        """Enter namespaces and set up mounts, before the fork."""
        if self.has_namespaces:
            shown = map(Path, (*self.writable, *self.shown))
            namespaces.enter(map(Path, self.hidden), shown, processes=bool(self.processes))
        if self.files == "mountns":
            namespaces.read_only(tuple(Path(path) for path in self.writable))

    def first(self) -> None:
        """Set up /proc, in the first process of a pid namespace."""
        if self.processes == "proc":
            namespaces.own_proc()

    def apply(self) -> None:
        """Restrict this process for the rest of its life."""
        limits.limit(self.memory)
        if self.label == "none":
            return
        kernel.drop_capabilities()
        kernel.gain_nothing()
        if self.files == "landlock":
            open_to = [*map(Path, (*self.writable, *_DEVICES, *namespaces.OWN)), *_devices()]
            # With namespaces, an empty folder is already mounted over hidden ones.
            hidden = () if self.has_namespaces else self.hidden
            landlock.restrict(open_to, map(Path, hidden), map(Path, self.shown))
        if self.calls:
            seccomp.restrict()


@cache
def possible() -> SandboxPolicy:
    """The restrictions that work on this machine, tried in child processes."""
    spaces = _works(namespaces.enter)
    own_mounts = spaces and _works(_mounts)
    lock = landlock.abi() > 0 and _works(_landlock)
    files = "landlock" if lock else "mountns" if own_mounts else ""
    network = "netns" if spaces else "tcp" if lock and landlock.refuses_tcp() else ""
    processes = ("proc" if _works(_own_proc) else "pidns") if spaces else ""
    calls = "seccomp" if seccomp.is_known() and _works(_seccomp) else ""
    return SandboxPolicy(files, network, processes, calls)


def require(policy: SandboxPolicy) -> SandboxPolicy:
    """Refuse to run untrusted code unless files and network are both restricted."""
    if policy.files and policy.network:
        return policy
    missing = " and ".join(
        name
        for name, has in (("writing files", policy.files), ("the network", policy.network))
        if not has
    )
    raise SetupError(
        f"untrusted solutions cannot be run here: this machine cannot restrict {missing}",
        "Landlock (Linux 5.13) or user namespaces are required; in a container: "
        "--security-opt seccomp=unconfined, or judge them inside a virtual machine",
    )


def _devices() -> Iterable[Path]:
    return (path for pattern in _OTHER_DEVICES for path in matching(Path("/"), pattern[1:]))


def _mounts() -> None:
    namespaces.enter()
    namespaces.read_only(())


def _own_proc() -> None:
    """Try to mount /proc; containers that mask parts of it refuse."""
    namespaces.enter()
    if not _works(namespaces.own_proc):
        raise PermissionError


def _landlock() -> None:
    kernel.gain_nothing()
    landlock.restrict(())


def _seccomp() -> None:
    kernel.gain_nothing()
    seccomp.restrict()


def _works(step: Callable[[], None]) -> bool:
    with warnings.catch_warnings():
        # Python 3.12 warns about forking with threads; the child runs none of their code.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        code = 1
        try:
            step()
            code = 0
        finally:
            os._exit(code)
    return os.waitpid(child, 0)[1] == 0
