"""The Ray cluster on this machine that `fictl farm up` started: its record, and its end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from fictl.child.codec import Malformed, from_text
from fictl.child.family import Member, descendants, member
from fictl.errors import FictlError, SetupError, UsageError, shown
from fictl.farm.blobs import farm_folder
from fictl.farm.ray.needs import SCHEME
from fictl.paths import FARM, cache_root, same_packages
from fictl.quantity import counted
from fictl.removal import remove
from fictl.user_file import read_text

_RECORD = "cluster.json"
_SUPERVISOR = "fictl.farm.ray.supervisor"
_END_SECONDS = 10.0


@dataclass(frozen=True)
class Process:
    """A process; `began` tells it from a later one with its pid."""

    pid: int
    began: str

    @property
    def is_alive(self) -> bool:
        now = member(self.pid)
        return now is not None and now.began == self.began


@dataclass(frozen=True)
class LocalCluster:
    """folder: what Ray writes, and the token. members: its processes, once they have started."""

    address: str
    folder: str
    nodes: int
    supervisor: Process
    members: tuple[Process, ...] = ()

    @property
    def on(self) -> str:
        """Return the `--on` with one place for each node, or for each GPU."""
        return f"{SCHEME}{self.address}"

    @property
    def token_path(self) -> Path:
        return Path(self.folder, "token")


def require_ray() -> None:
    """Refuse to go on without the package; this does not import it."""
    if find_spec("ray") is None:
        raise SetupError(
            "places in a Ray cluster need the package ray, which is not installed",
            "pip install 'fictl[ray]'",
        )


def running() -> LocalCluster | None:
    """Return the cluster that is up."""
    cluster = recorded()
    return cluster if cluster is not None and cluster.supervisor.is_alive else None


def variables_of(address: str) -> dict[str, str]:
    """Return the variables with the token of a cluster, if this user has started it here."""
    cluster = running()
    if cluster is None or cluster.address != address:
        return {}
    return token_variables(read_text(cluster.token_path, largest=1 << 10))


def token_variables(token: str) -> dict[str, str]:
    return {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": token}


def start(nodes: int) -> LocalCluster:
    """Start a cluster, which lasts until `end`; one of as many nodes that is up is as good."""
    require_ray()
    cluster = running()
    if cluster is not None:
        if cluster.nodes != nodes:
            count = counted(cluster.nodes, "node")
            raise UsageError(f"a cluster of {count} is up at {cluster.address}", "fictl farm down")
        return cluster
    end()
    argv = (sys.executable, "-m", _SUPERVISOR, str(nodes), str(farm_folder("ray") / _RECORD))
    answer = _first_line(argv)
    if not answer.startswith("{"):
        end()
        raise SetupError(f"no Ray cluster starts here: {shown(answer)}")
    return from_text(LocalCluster, answer)


def _first_line(argv: Sequence[str]) -> str:
    """Start a supervisor, which leaves this process's family; return what it prints."""
    with subprocess.Popen(
        argv,
        env={**os.environ, **same_packages()},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as supervisor:
        assert supervisor.stdout is not None
        line = supervisor.stdout.readline().decode(errors="replace").strip()
    return line or "its supervisor ended at once"


def end() -> LocalCluster | None:
    """End the recorded cluster and remove what it wrote; None if there is none."""
    cluster = recorded()
    if cluster is None:
        return None
    if cluster.supervisor.is_alive:
        with suppress(OSError):
            os.kill(cluster.supervisor.pid, signal.SIGTERM)
        _wait_for([cluster.supervisor])
    left = [*_left(cluster)]
    for process in left:
        process.signal(signal.SIGKILL)
    _wait_for([Process(process.pid, process.began) for process in left])
    remove(Path(cluster.folder))
    _path().unlink(missing_ok=True)
    return cluster


def _wait_for(processes: Sequence[Process]) -> None:
    deadline = time.monotonic() + _END_SECONDS
    while any(process.is_alive for process in processes) and time.monotonic() < deadline:
        time.sleep(0.05)


def _left(cluster: LocalCluster) -> Iterator[Member]:
    """Yield processes whose supervisor was killed, with all that they have started."""
    for process in (cluster.supervisor, *cluster.members):
        now = member(process.pid)
        if now is not None and process.is_alive:
            yield from descendants(process.pid)
            yield now


def _path() -> Path:
    return cache_root().joinpath(*FARM, "ray", _RECORD)


def recorded() -> LocalCluster | None:
    """Return the cluster of the record, which may have been killed since."""
    try:
        return from_text(LocalCluster, read_text(_path(), largest=1 << 20))
    except (OSError, ValueError, Malformed, FictlError):
        return None
