"""Processes of one reference that serve the next definition, unless the reference left something there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

import pytest

from fictl.judge import Judge
from fictl.judge.judge_outcome import InvalidReference
from fictl.judge.process.spares import For, Spares
from fictl.judge.reference import Reference
from fictl.judge.reference_process import MOST_DEFINITIONS
from fictl.trace import Definition, Evaluation

from .judge_runs import CONFIG, REFERENCE, WORKLOAD, definition, said, solution

QUICK = replace(CONFIG, profile_baseline=False)
DOUBLE = REFERENCE.replace("x * s", "2 * x * s")
# What a reference may leave where the next one would meet it.
LEAVES = {
    "a variable": "import os; os.environ['LEFT'] = '1'",
    "a folder": "import os; os.chdir('/')",
    "a mask": "import os; os.umask(0)",
    "a path": "import sys; sys.path.append('/nowhere')",
    "a finder": "import sys; sys.meta_path.append(type('F', (), {'find_spec': lambda *_: None}))",
    "a limit": "import sys; sys.setrecursionlimit(5000)",
    "a dtype": "torch.set_default_dtype(torch.float64)",
    "a device": "torch.set_default_device('meta')",
    "threads": "torch.set_num_threads(torch.get_num_threads() + 1)",
    "deterministic": "torch.use_deterministic_algorithms(True)",
    "a precision": "torch.set_float32_matmul_precision('medium')",
    "a newer precision": "torch.backends.cuda.matmul.fp32_precision = 'tf32'",
    "a flag": "torch.backends.cudnn.benchmark = True",
    "a function": "torch.mul = torch.add",
    "a method": "torch.Tensor.__mul__ = torch.Tensor.__add__",
    "a builtin": "import builtins; builtins.max = min",
    "a clock": "import time; time.perf_counter = time.monotonic",
    "a hook": "import gc; gc.callbacks.append(lambda *_: None)",
    "a signal": "import signal; signal.signal(signal.SIGALRM, lambda *_: None)",
    "a thread": "import threading, time; threading.Thread(target=time.sleep, args=(60,)).start()",
    "a process": "import subprocess; subprocess.Popen(['sleep', '60'])",
    "memory": "import builtins; builtins.kept = torch.ones(300_000_000)",
}


@pytest.fixture
def reference() -> Iterator[Reference]:
    spares = Spares(For("cpu"))
    with Reference(definition(), "cpu", spares=spares) as made:
        yield made
    spares.close()


def judged(
    reference: Reference, asked: Definition, call: str = "x * s", *, baseline: bool = False
) -> Evaluation:
    if asked != reference.definition:
        reference.turn_to(asked)
    tried = solution(f"def run(x, s):\n    return {call}\n")
    config = replace(QUICK, profile_baseline=baseline)
    with Judge(asked, tried, config, reference=reference, spares=reference.spares) as judge:
        return judge.evaluate(WORKLOAD)


def test_the_next_definition_is_judged_by_its_own_reference(reference: Reference) -> None:
    asked = [(definition(), "x * s"), (definition(DOUBLE), "2 * x * s"), (definition(), "x * s")]
    processes = set()
    for made, right in asked:
        found = judged(reference, made, right, baseline=True)
        assert found.status.value == "PASSED", said(found)
        wrong = judged(reference, made, "3 * x * s")
        assert wrong.status.value == "INCORRECT_NUMERICAL", said(wrong)
        processes.add((id(reference._sandboxed), id(reference.baseline.process)))
    assert len(processes) == 1


def test_other_inputs_and_outputs_are_those_of_the_next_definition(reference: Reference) -> None:
    assert judged(reference, definition()).status.value == "PASSED"
    first, half = reference._sandboxed, {"shape": ["m", "n"], "dtype": "float16"}
    made = definition(
        "def run(x, s):\n    return (x * s).sum(1), x.half()\n",
        outputs={"total": {"shape": ["m"], "dtype": "float32"}, "y": half},
    )
    found = judged(reference, made, "(x * s).sum(1), x.half()", baseline=True)
    assert found.status.value == "PASSED", said(found)
    assert reference._sandboxed is first


@pytest.mark.parametrize("left", LEAVES)
def test_a_process_in_which_something_was_left_serves_no_other(
    left: str, reference: Reference
) -> None:
    reference.turn_to(definition(f"import torch\n{LEAVES[left]}\n{REFERENCE}"))
    with suppress(InvalidReference):  # What it left may be in its own way.
        reference.open(WORKLOAD, QUICK)
    before = reference._sandboxed
    assert before is not None
    reference.turn_to(definition(DOUBLE))
    assert reference._sandboxed is None
    reference.open(WORKLOAD, QUICK)
    assert reference._sandboxed is not before
    assert reference.spares is not None
    assert not reference.spares.reference_stays


def test_random_numbers_begin_again(reference: Reference) -> None:
    draws = """
import os
import random
from pathlib import Path
import numpy
import torch
drawn = str((float(torch.rand(1)), random.random(), float(numpy.random.rand())))
kept = Path(os.environ["HOME"], "drawn")
assert not kept.exists() or kept.read_text() == drawn
kept.write_text(drawn)
"""
    for name in ("first", "second"):
        found = judged(reference, definition(f"{draws}# {name}\n{REFERENCE}"))
        assert found.status.value == "PASSED", said(found)
    assert reference._served == 2


def test_what_timed_a_reference_serves_no_other_if_something_was_left_there(
    reference: Reference,
) -> None:
    """In the referee's own process the same code leaves nothing."""
    leaves = """
import os
if os.environ["HOME"].count("baseline") or "spare-solution" in os.environ["HOME"]:
    os.environ["LEFT"] = "1"
"""
    assert judged(reference, definition(leaves + REFERENCE), baseline=True).status.value == "PASSED"
    referee, timed = reference._sandboxed, reference.baseline.process
    found = judged(reference, definition(DOUBLE), "2 * x * s", baseline=True)
    assert found.status.value == "PASSED", said(found)
    assert reference._sandboxed is referee
    assert reference.baseline.process is not timed


def test_a_reference_that_fails_where_it_is_timed_fails_each_time(reference: Reference) -> None:
    assert judged(reference, definition(), baseline=True).status.value == "PASSED"
    fails = """
import os
if os.environ["HOME"].count("baseline") or "spare-solution" in os.environ["HOME"]:
    raise RuntimeError("not here")
"""
    for _ in range(2):
        found = judged(reference, definition(fails + REFERENCE), baseline=True)
        assert found.status.value == "INVALID_REFERENCE", said(found)
        assert "not here" in found.log


def test_a_process_that_was_killed_is_replaced(reference: Reference) -> None:
    judged(reference, definition())
    assert reference._sandboxed is not None
    reference._sandboxed.end_soon()
    found = judged(reference, definition(DOUBLE), "2 * x * s", baseline=True)
    assert found.status.value == "PASSED", said(found)


def test_a_reference_that_fails_is_not_the_next_ones_fault(reference: Reference) -> None:
    for broken in ("1 / 0", "import nowhere"):
        found = judged(reference, definition(f"{broken}\n{REFERENCE}"))
        assert found.status.value == "INVALID_REFERENCE", said(found)
        assert judged(reference, definition()).status.value == "PASSED"


def test_a_process_ends_after_many_definitions(reference: Reference) -> None:
    judged(reference, definition())
    first = reference._sandboxed
    reference._served = MOST_DEFINITIONS
    judged(reference, definition(DOUBLE), "2 * x * s")
    assert reference._sandboxed is not first
    assert reference._served == 1
