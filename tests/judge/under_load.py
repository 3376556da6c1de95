"""Honest solutions beside busy loops: what they are called, of as many runs as are wanted.

python -m tests.judge.under_load 1000
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from fictl.judge import Judge
from fictl.judge.reference import Reference
from fictl.trace import Evaluation, Solution

from .judge_runs import CONFIG, WORKLOAD, definition, solution

RETURNS = "def run(x, s):\n    return x * s\n"
WRITES = "import torch\ndef run(x, s, y):\n    torch.mul(x, s, out=y)\n"
WITH_A_THREAD = """
import threading
import torch
def run(x, s, y):
    worker = threading.Thread(target=torch.mul, args=(x, s), kwargs={"out": y})
    worker.start()
    worker.join()
"""
WITH_A_THREAD_THAT_ENDS_SOON = """
import threading
import time
def run(x, s):
    threading.Thread(target=time.sleep, args=(0.02,)).start()
    return x * s
"""
HONEST = {
    "returns": solution(RETURNS),
    "writes": solution(WRITES, dps=True),
    "thread": solution(WITH_A_THREAD, dps=True),
    "ends soon": solution(WITH_A_THREAD_THAT_ENDS_SOON),
}
SHORT = replace(
    CONFIG,
    warmup_runs=1,
    iterations=2,
    correctness_rounds=1,
    profile_baseline=False,
    timeout_seconds=120.0,
)


@contextmanager
def busy_loops(count: int) -> Iterator[None]:
    loops = [
        subprocess.Popen([sys.executable, "-c", "while True:\n    pass"]) for _ in range(count)
    ]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def evaluations(tried: dict[str, Solution], runs: int) -> Iterator[tuple[str, Evaluation]]:
    """In turn, each in the process that it had before."""
    with ExitStack() as kept:
        reference = kept.enter_context(Reference(definition(), "cpu"))
        judges = {
            name: kept.enter_context(Judge(definition(), one, SHORT, reference=reference))
            for name, one in tried.items()
        }
        for number in range(runs):
            name = [*judges][number % len(judges)]
            workload = WORKLOAD.model_copy(update={"uuid": f"w{number}"})
            yield name, judges[name].evaluate(workload)


def main(words: list[str]) -> int:
    runs = int(words[0]) if words else 100
    loops = 2 * len(os.sched_getaffinity(0))
    found: Counter[str] = Counter()
    unclear, start = 0, time.monotonic()
    with busy_loops(loops):
        for name, one in evaluations(HONEST, runs):
            found[one.status.value] += 1
            unclear += "unclear" in (one.fictl or {})
            if one.status.value != "PASSED":
                print(name, one.status.value, one.log[:400], flush=True)
    seconds = time.monotonic() - start
    print(
        f"{runs} runs beside {loops} busy loops: {dict(found)}, {unclear} unclear, {seconds:.0f} s"
    )
    return 0 if found["PASSED"] == runs else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
