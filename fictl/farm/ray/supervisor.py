"""The process above a Ray cluster on this machine; the cluster ends with it.

Its words are the number of nodes, and the file for its record: without one, it ends when its
stdin closes. It prints its record, or why there is no cluster.
"""

from __future__ import annotations

import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

from fictl import settings
from fictl.child.codec import to_text
from fictl.child.family import descendants, end_descendants, member
from fictl.farm.ray.cluster import LocalCluster, Process, token_variables
from fictl.gpu_lock.visible import gpu_names
from fictl.jit.jobs import usable_cores
from fictl.judge.sandbox import kernel
from fictl.paths import write_atomic
from fictl.removal import remove

_NODE_SECONDS = 120.0
_LONGEST_ABOVE = 30
_STORE_BYTES = 100 << 20
_BRIDGE = "fictl.farm.ray.bridge"
# Why no memory monitor: it kills workers for memory that others of the machine have taken.
_VARIABLES = {"RAY_memory_monitor_refresh_ms": "0", "RAY_USAGE_STATS_ENABLED": "0"}


def main(words: Sequence[str]) -> int:
    nodes, record = int(words[0]), Path(words[1]) if words[1:] else None
    if record is not None and os.fork():
        return 0  # Who has started this process need not wait for it.
    signal.signal(signal.SIGTERM, _terminated)
    kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
    if record is None:
        threading.Thread(target=_end_with_stdin, daemon=True).start()
    folder = Path(tempfile.mkdtemp(prefix="fictl-", dir=_above()))
    try:
        cluster = _started(folder, nodes, record)
        _answer(to_text(cluster))
        while True:
            os.waitpid(-1, 0)
    except ChildProcessError:
        return 0  # All nodes have ended.
    except (_NodeFailed, OSError, subprocess.SubprocessError) as error:
        _answer(str(error))
        return 1
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        end_descendants()
        remove(folder)
        if record is not None:
            record.unlink(missing_ok=True)


class _NodeFailed(Exception):
    """The last line of `ray start`."""


def _started(folder: Path, nodes: int, record: Path | None) -> LocalCluster:
    token = secrets.token_hex(32)
    cluster = LocalCluster(f"127.0.0.1:{_free_port()}", str(folder), nodes, _process(os.getpid()))
    cluster.token_path.touch(mode=0o600)
    cluster.token_path.write_text(token, encoding="utf-8")
    _write(record, cluster)
    variables = {**os.environ, **_VARIABLES, "RAY_TMPDIR": str(folder), **token_variables(token)}
    names = gpu_names()
    for number in range(nodes):
        gpus = names[number::nodes]
        visible = {settings.CUDA_VISIBLE_DEVICES.name: ",".join(gpus)} if names else {}
        _start_node(cluster, number, len(gpus), {**variables, **visible})
    members = tuple(Process(one.pid, one.began) for one in descendants(os.getpid()))
    cluster = replace(cluster, members=members)
    _write(record, cluster)
    return cluster


def _start_node(cluster: LocalCluster, number: int, gpus: int, variables: dict[str, str]) -> None:
    port = cluster.address.rpartition(":")[2]
    head = ("--head", f"--port={port}", "--include-dashboard=false")
    words = head if number == 0 else (f"--address={cluster.address}",)
    done = subprocess.run(
        [
            *(sys.executable, "-m", _BRIDGE, "node", *words, "--disable-usage-stats"),
            *(f"--num-cpus={usable_cores()}", f"--num-gpus={gpus}"),
            *("--include-log-monitor=false", f"--object-store-memory={_STORE_BYTES}"),
        ],
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=_NODE_SECONDS,
    )
    if done.returncode:
        lines = done.stdout.decode(errors="replace").strip().splitlines()
        raise _NodeFailed(lines[-1] if lines else f"exit code {done.returncode}")


def _above() -> str:
    """Return a folder for temporary files; Ray's sockets in it have at most 107 bytes of path."""
    usual = tempfile.gettempdir()
    return usual if len(usual) <= _LONGEST_ABOVE else "/tmp"  # noqa: S108  (mkdtemp)


def _write(record: Path | None, cluster: LocalCluster) -> None:
    if record is not None:
        write_atomic(record, to_text(cluster))


def _process(pid: int) -> Process:
    now = member(pid)
    assert now is not None
    return Process(pid, now.began)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _answer(line: str) -> None:
    """Write the only line, after which nobody reads."""
    with suppress(OSError):
        os.write(1, line.encode() + b"\n")
    null = os.open(os.devnull, os.O_RDWR)
    for handle in (1, 2):
        os.dup2(null, handle)


def _end_with_stdin() -> None:
    with suppress(OSError):
        while os.read(0, 1 << 12):
            pass
    os.kill(os.getpid(), signal.SIGTERM)


def _terminated(number: int, frame: object) -> NoReturn:
    raise SystemExit(128 + number)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
