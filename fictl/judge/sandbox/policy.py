"""Which policy a sandbox has: what this machine can build, and building it around this process."""

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
    """`files`: landlock, mountns or ''; `network`: netns, tcp or ''; `processes`: proc, pidns or '';
    `calls`: seccomp or ''.

    pidns is a namespace with the /proc of another, which CUDA takes for its own and fails; proc is
    one with its own. `hidden` folders are not read, but for those of `writable` and `shown`.
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
        """As results carry it."""
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
    def from_dict(cls, said: dict[str, Any]) -> SandboxPolicy:
        lists = {name: tuple(said[name]) for name in ("writable", "hidden", "shown")}
        return cls(**{**said, **lists})

    def unshare(self) -> None:
        """Before the fork: namespaces, and mounts in them."""
        if self.has_namespaces:
            shown = map(Path, (*self.writable, *self.shown))
            namespaces.enter(map(Path, self.hidden), shown, processes=bool(self.processes))
        if self.files == "mountns":
            namespaces.read_only(tuple(Path(path) for path in self.writable))

    def first(self) -> None:
        """In the first process of a namespace."""
        if self.processes == "proc":
            namespaces.own_proc()

    def apply(self) -> None:
        """The process is inside from now on."""
        limits.limit(self.memory)
        if self.label == "none":
            return
        kernel.drop_capabilities()
        kernel.gain_nothing()
        if self.files == "landlock":
            open_to = [*map(Path, (*self.writable, *_DEVICES, *namespaces.OWN)), *_devices()]
            # Where there are namespaces, what is hidden has an empty folder over it already.
            hidden = () if self.has_namespaces else self.hidden
            landlock.restrict(open_to, map(Path, hidden), map(Path, self.shown))
        if self.calls:
            seccomp.restrict()


@cache
def possible() -> SandboxPolicy:
    """What works here, tried in a process of its own."""
    spaces = _works(namespaces.enter)
    own_mounts = spaces and _works(_mounts)
    lock = landlock.abi() > 0 and _works(_landlock)
    files = "landlock" if lock else "mountns" if own_mounts else ""
    network = "netns" if spaces else "tcp" if lock and landlock.refuses_tcp() else ""
    processes = ("proc" if _works(_own_proc) else "pidns") if spaces else ""
    calls = "seccomp" if seccomp.is_known() and _works(_seccomp) else ""
    return SandboxPolicy(files, network, processes, calls)


def require(policy: SandboxPolicy) -> SandboxPolicy:
    """Untrusted code runs behind both policy or not at all."""
    if policy.files and policy.network:
        return policy
    missing = " and ".join(
        name
        for name, has in (("writing files", policy.files), ("the network", policy.network))
        if not has
    )
    raise SetupError(
        f"untrusted solutions cannot be run here: nothing keeps them from {missing}",
        "it takes Landlock (Linux 5.13) or user namespaces; in a container: "
        "--security-opt seccomp=unconfined, or judge them inside a virtual machine",
    )


def _devices() -> Iterable[Path]:
    return (path for pattern in _OTHER_DEVICES for path in matching(Path("/"), pattern[1:]))


def _mounts() -> None:
    namespaces.enter()
    namespaces.read_only(())


def _own_proc() -> None:
    """Refused in containers that mask parts of /proc."""
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
        # Python 3.12 warns of threads that others may have begun; the child runs none of their code.
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
