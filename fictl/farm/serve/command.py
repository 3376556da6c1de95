"""One command of fictl, which ends with the worker that began it, however that ends."""

from __future__ import annotations

import os
import runpy
import signal
import sys

from fictl.judge.sandbox import kernel


def main(worker: str, *argv: str) -> None:
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != int(worker):  # It ended before it could be followed.
        sys.exit(128 + signal.SIGTERM)
    sys.argv = ["fictl", *argv]
    runpy.run_module("fictl", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
