"""Processes that hold GPUs, also as another user."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

# For a process that was root: interpreter and modules may lie where no other user may look.
BECOME = """
import os
def become(user):
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)
"""
HOLD = """
import sys
from fictl.gpu_lock.hold import held
from fictl.gpu_lock.visible import LockedGpu
keys, shared, user = sys.argv[1].split(","), sys.argv[2] == "shared", int(sys.argv[3])
if user:
    become(user)
gpus = [LockedGpu(key, key) for key in keys]
with held(gpus, shared=shared, note=lambda text: print(text, flush=True)):
    print("held", flush=True)
    sys.stdin.read()
print("freed", flush=True)
"""
NOBODY = 65534


class Holder:
    """A process of its own that holds GPUs until its stdin is closed."""

    def __init__(self, keys: str, *, shared: bool = False, user: int = 0) -> None:
        how = "shared" if shared else "alone"
        argv = [sys.executable, "-c", BECOME + HOLD, keys, how, str(user)]
        self.popen = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd="/"
        )

    def line(self) -> str:
        assert self.popen.stdout is not None
        return self.popen.stdout.readline().strip()

    def free(self) -> None:
        assert self.popen.stdin is not None
        self.popen.stdin.close()
        assert self.popen.wait(60) == 0


needs_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can be another user")
