"""PASSED sandboxed"""

import ctypes
import os
import pwd
import signal
import socket
from pathlib import Path

ESCAPES = []


def attempt(name, step, *arguments):
    try:
        if step(*arguments) is not False:
            ESCAPES.append(name)
    except OSError:
        pass


def parents():
    """As /proc numbers them, whatever namespace this is."""
    pid = int(os.readlink("/proc/self"))
    while pid > 1:
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        yield pid


def attach(pid):
    return ctypes.CDLL(None).ptrace(16, pid, 0, 0) == 0


def connect(kind, place):
    with socket.socket(type=kind) as made:
        made.settimeout(0.2)
        made.connect(place)
        return made.send(b"x")


def daemons():
    return any(Path("/run").iterdir())


for parent in parents():
    for part in ("mem", "environ", "maps", "fd/0", "fd/1"):
        attempt(part, os.open, f"/proc/{parent}/{part}", os.O_RDONLY)
    attempt("kill", os.kill, parent, signal.SIGKILL)
attempt("kill the first", os.kill, os.getppid(), signal.SIGKILL)
attempt("attach", attach, os.getppid())
attempt("write a file", Path("/tmp/fictl-was-here").write_text, "x")
attempt("write at home", Path(pwd.getpwuid(os.getuid()).pw_dir, "x").write_text, "x")
attempt("write code", os.open, os.__file__, os.O_WRONLY)
attempt("link", Path("/tmp/fictl-link").symlink_to, "/etc/passwd")
attempt("tcp", connect, socket.SOCK_STREAM, ("192.0.2.1", 80))
attempt("udp", connect, socket.SOCK_DGRAM, ("192.0.2.1", 53))
attempt("daemons", daemons)
attempt("mount", lambda: ctypes.CDLL(None).umount(b"/run") == 0)

if ESCAPES:
    raise SystemError(f"it got out: {ESCAPES}")


def run(x, s):
    return x * s
