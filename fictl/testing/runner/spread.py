"""Tests spread over several GPUs or cores: each slot runs one group after another."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from queue import SimpleQueue

from fictl import settings
from fictl.errors import SetupError, UsageError
from fictl.gpu_lock.visible import gpu_names
from fictl.process import stop_all
from fictl.report.test_report import TestReport
from fictl.testing.runner.group import TestGroup
from fictl.testing.runner.journal import Journal
from fictl.testing.runner.watch import Told


@dataclass(frozen=True)
class TestSlot:
    """Variables of one process, which give it a GPU of its own, or some cores."""

    __test__ = False  # The name is right, and pytest must not collect it.

    variables: Mapping[str, str] = field(default_factory=dict)


def find_slots(asked: str, device: str) -> tuple[TestSlot, ...]:
    """Find slots: this many, or with `auto` one for each GPU or, emulated, each core."""
    if asked != "auto" and not re.fullmatch(r"0*[1-9][0-9]{0,3}", asked):
        raise UsageError(f"-n {asked}: expected auto or a whole number from 1")
    wanted = None if asked == "auto" else int(asked)
    return _cores(wanted) if device == "emu" else _gpus(wanted)


def spread(
    whole: TestGroup, slots: Sequence[TestSlot], say: Callable[[str], object], told: Told
) -> list[TestReport]:
    """Run parts of the group in slots; a part's output is passed on when the part has ended."""
    free: SimpleQueue[TestSlot] = SimpleQueue()
    for slot in slots:
        free.put(slot)
    saying, together = threading.Lock(), _Together(told)

    def run(part: TestGroup) -> TestReport:
        slot, lines = free.get(), list[str]()
        try:
            own = replace(part, variables={**part.variables, **slot.variables})
            return own.run(lines.append, together)
        finally:
            free.put(slot)
            with saying:
                for line in lines:
                    say(line)

    with ThreadPoolExecutor(len(slots)) as pool:
        try:
            return list(pool.map(run, parts(whole, len(slots))))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            stop_all()
            raise


def parts(whole: TestGroup, slots: int) -> list[TestGroup]:
    """Split the group by op, so that each is built once; into shares if there are too few ops."""
    shares = -(-slots // len(whole.folders))
    return [
        replace(
            whole,
            folders=(folder,),
            arguments=[*whole.arguments, f"--fictl-part={share}/{shares}"],
        )
        for folder in whole.folders
        for share in range(shares)
    ]


class _Together:
    """Merges the journals of several processes into one for `told`."""

    def __init__(self, told: Told) -> None:
        self._told = told
        self._journals: dict[int, Journal] = {}

    def __call__(self, journal: Journal) -> None:
        self._journals[id(journal)] = journal
        every = [*self._journals.values()]
        outcomes = {name: outcome for one in every for name, outcome in one.outcomes.items()}
        total = sum(one.total for one in every)
        self._told(Journal(journal.path, outcomes, total, running=journal.running))


def _cores(wanted: int | None) -> tuple[TestSlot, ...]:
    cores = len(os.sched_getaffinity(0))
    slots = wanted or cores
    threads = {settings.EMU_THREADS.name: str(max(1, cores // slots))}
    return (TestSlot(threads),) * slots


def _gpus(wanted: int | None) -> tuple[TestSlot, ...]:
    names = gpu_names()
    if not names:
        raise SetupError("-n spreads tests over GPUs, and none is visible", "--device emu")
    return tuple(
        TestSlot({settings.CUDA_VISIBLE_DEVICES.name: name})
        for name in names[: wanted or len(names)]
    )
