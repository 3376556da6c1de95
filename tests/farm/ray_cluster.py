"""A Ray cluster of two nodes, which ends with the process that has started it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from fictl.child.codec import from_text
from fictl.child.family import descendants
from fictl.farm.ray.cluster import LocalCluster, token_variables


class TriedCluster:
    """Started when it is needed, and again once one of its nodes was killed."""

    def __init__(self, nodes: int = 2) -> None:
        self._nodes = nodes
        self._supervisor: subprocess.Popen[bytes] | None = None
        self._cluster: LocalCluster | None = None

    def whole(self) -> LocalCluster:
        if self._cluster is None or not all(one.is_alive for one in self._cluster.members):
            self.close()
            self._cluster = self._started()
        return self._cluster

    def some(self) -> LocalCluster:
        """A cluster that may lack nodes which a test has killed."""
        if self._cluster is None or not self._cluster.supervisor.is_alive:
            return self.whole()
        return self._cluster

    def close(self) -> None:
        self._cluster = None
        if self._supervisor is not None:
            assert self._supervisor.stdin is not None
            self._supervisor.stdin.close()
            self._supervisor.wait(60)

    def _started(self) -> LocalCluster:
        argv = [sys.executable, "-m", "fictl.farm.ray.supervisor", str(self._nodes)]
        self._supervisor = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
        )
        assert self._supervisor.stdout is not None
        with self._supervisor.stdout as answer:
            return from_text(LocalCluster, answer.readline().decode())


def token_of(cluster: LocalCluster) -> dict[str, str]:
    return token_variables(cluster.token_path.read_text())


def processes(cluster: LocalCluster, word: str) -> list[int]:
    """The pids of the cluster's processes with a word in their command lines, oldest first."""
    found = []
    for process in descendants(cluster.supervisor.pid):
        try:
            line = Path(f"/proc/{process.pid}/cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue
        if word in line:
            found.append((int(process.began), process.pid))
    return [pid for _, pid in sorted(found)]


def kill(pids: list[int]) -> None:
    assert pids
    for pid in pids:
        os.kill(pid, signal.SIGKILL)


def open_to_all(folder: Path, port: int) -> subprocess.Popen[bytes]:
    """Start a head without a token, which other machines could reach; it leads its group."""
    argv = [sys.executable, "-m", "ray.scripts.scripts", "start", "--head", f"--port={port}"]
    argv += ["--num-cpus=1", "--include-dashboard=false", "--include-log-monitor=false"]
    argv += ["--disable-usage-stats", "--object-store-memory=100000000"]
    variables = {**os.environ, "RAY_TMPDIR": str(folder), "RAY_AUTH_MODE": "disabled"}
    return subprocess.Popen(argv, env=variables, stdout=subprocess.DEVNULL, start_new_session=True)


def listening_hosts(pids: list[int]) -> set[str]:
    """The addresses, in hexadecimal, at which these processes listen."""
    sockets, found = set(), set()
    for pid in pids:
        with suppress(OSError):  # It has ended.
            for link in Path(f"/proc/{pid}/fd").iterdir():
                with suppress(OSError):  # It was closed.
                    sockets.add(os.readlink(link))
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in sockets:
                found.add(fields[1].partition(":")[0])
    return found


def table(cluster: LocalCluster, workspace: Path | str, **more: object) -> str:
    """A table of two places of the cluster."""
    own = {"engine": "ray", "address": cluster.on, "count": 2, "require": {"gpus": 0}, **more}
    own["variables"] = {"FICTL_WORKSPACE_BASE": str(workspace)}
    return "[[place]]\n" + "".join(f"{key} = {_toml(value)}\n" for key, value in own.items())


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_toml(one)}" for key, one in value.items()) + "}"
    return json.dumps(value)
