"""One command of fictl, which ends with the worker that began it, however that ends."""

from __future__ import annotations

import os
import runpy
import signal
import sys

from fictl.judge.sandbox import kernel


def main(worker: str, *argv: str) -> int:
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != int(worker):  # It ended before it could be followed.
        return 128 + signal.SIGTERM
    sys.argv = ["fictl", *argv]
    runpy.run_module("fictl", run_name="__main__", alter_sys=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
