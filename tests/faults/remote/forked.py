"""Runs the command line in forks of one process, each of which may be killed at a step of its own.

Reads jobs as JSON lines: {"words": the command, "variables": {}, "die_at": a number or 0}. Prints a line with the pid
when a job is forked, and one with its exit status and the steps it has taken, when it has ended. A step is a change of
the file system, as Python's audit events tell it.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

_CHANGES = {"os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.link", "os.chmod", "os.truncate"}
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC


def watch(die_at: int, counter: Path) -> None:
    """Count this process's steps in a file, and kill it before the step of that number."""
    steps = 0
    # Opened here: to open it in the hook would be a step.
    file = os.open(counter, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)

    def hook(event: str, details: tuple[object, ...]) -> None:
        nonlocal steps
        writes = event == "open" and isinstance(details[2], int) and details[2] & _WRITES
        if event in _CHANGES or writes:
            steps += 1
            if steps == die_at:
                os.kill(os.getpid(), signal.SIGKILL)
            os.pwrite(file, f"{steps:9}".encode(), 0)

    sys.addaudithook(hook)


def run(job: dict, output: int, counter: Path) -> None:
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.environ.update(job["variables"])
    from fictl.cli import main

    watch(job["die_at"], counter)
    sys.argv = ["fictl", *job["words"]]
    main()


def _import_what_jobs_import() -> None:
    """All but the client, which has threads once it is used."""
    from fictl.builds.building import build
    from fictl.cli import application
    from fictl.jit.compile import compile_plan
    from fictl.jit.prefetch import prefetch
    from fictl.jit.remote.send_entry import send
    from fictl.ship.artifacts.pull import pull
    from fictl.ship.artifacts.push import push
    from fictl.trust.secret_key import SecretKey

    assert all((build, compile_plan, prefetch, pull, push, send))
    commands = application().commands  # each is imported where it is looked at
    assert commands["build"].params
    assert all((*commands["artifacts"].commands.values(), *commands["cache"].commands.values()))
    assert SecretKey.generate().public


def serve(folder: Path) -> None:
    _import_what_jobs_import()
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    counter = folder / "steps"
    for line in sys.stdin:
        counter.unlink(missing_ok=True)
        output = os.open(folder / "output", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        if not (child := os.fork()):
            run(json.loads(line), output, counter)
            sys.exit()
        answers.write(f"{child}\n")
        status = os.waitpid(child, 0)[1]
        os.close(output)
        steps = counter.read_text() if counter.exists() else ""
        answers.write(json.dumps([os.waitstatus_to_exitcode(status), int(steps or 0)]) + "\n")


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
