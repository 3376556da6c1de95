"""Debian's ssh server on the loopback interface, with keys and a port of its own."""

from __future__ import annotations

import getpass
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from fictl.child.family import Member, descendants

SSHD = shutil.which("sshd") or shutil.which("/usr/sbin/sshd")
_SERVER = """
Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host
AuthorizedKeysFile {folder}/user.pub
PidFile {folder}/pid
StrictModes no
UsePAM no
PasswordAuthentication no
MaxStartups 100
"""
_CLIENT = """
Host loopback
 HostName 127.0.0.1
 Port {port}
 User {user}
 IdentityFile {folder}/user
 IdentitiesOnly yes
 BatchMode yes
 StrictHostKeyChecking no
 UserKnownHostsFile /dev/null
 LogLevel ERROR
"""


@dataclass(frozen=True)
class Sshd:
    """A server that is up: `launch` is the command line that reaches it."""

    pid: int
    launch: tuple[str, ...]

    def processes(self, word: str) -> list[Member]:
        """The processes below the server, nearest first, whose command lines have this word."""
        return [one for one in descendants(self.pid) if word in words_of(one.pid)]

    def sessions(self) -> list[Member]:
        return [one for one in descendants(self.pid) if words_of(one.pid).startswith("sshd")]


def words_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def clients() -> list[Member]:
    """The ssh clients of this process."""
    below = descendants(os.getpid())
    return [one for one in below if words_of(one.pid).startswith("ssh ")]


@contextmanager
def running_sshd(folder: Path) -> Iterator[Sshd]:
    """Start a server; skip the test, with the reason, where there is none or it does not start."""
    if not SSHD:
        pytest.skip("needs sshd (openssh-server)")
    for name in ("host", "user"):
        key = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
        subprocess.run(key, check=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        words = {"port": free.getsockname()[1], "folder": folder, "user": getpass.getuser()}
    (folder / "server").write_text(_SERVER.format(**words))
    (folder / "client").write_text(_CLIENT.format(**words))
    with suppress(OSError):  # Needed by, and possible for, root alone.
        Path("/run/sshd").mkdir(exist_ok=True)
    argv = [SSHD, "-D", "-e", "-f", folder / "server"]
    with subprocess.Popen(argv, stderr=subprocess.PIPE) as server:
        assert server.stderr is not None
        line = server.stderr.readline()
        if b"listening" not in line:
            server.kill()
            pytest.skip(f"sshd does not start here: {line.decode(errors='replace').strip()}")
        yield Sshd(server.pid, ("ssh", "-F", str(folder / "client"), "loopback"))
        for process in descendants(server.pid):
            process.signal(signal.SIGKILL)
        server.terminate()
