"""Spare processes: started, sandboxed and, on a GPU, with a context, before anybody needs them.

A process that has used a GPU cannot be forked, so each of them waits for one solution, or for
references, and ends with them.
"""

from __future__ import annotations

import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from fictl.errors import FictlError
from fictl.judge.inside.roles import REFERENCE, SOLUTION
from fictl.judge.process.hidden import hidden_from_solutions
from fictl.judge.process.sandboxed_process import SandboxedProcess
from fictl.judge.process.scratch import new_scratch
from fictl.judge.process.spawn import start
from fictl.removal import remove
from fictl.toolchain.smi import read_smi

# For a reference: its process, and one that times it.
_REFERENCE = (REFERENCE, SOLUTION)
# On a GPU, the contexts of several processes together take little longer to make than one, which takes
# longer than the part of an evaluation in which nothing is timed: there those of so many evaluations
# start together, if the GPU has so many MiB of memory.
_ON_GPU, _LARGE = 4, 32 << 10
_WITH_REFERENCES = 2  # So many of them, where each needs processes for its reference, too.
_SECONDS = 60.0
WORK = "work"


@dataclass(frozen=True)
class For:
    """Purpose of a process; another needs other spares. `root` is a dataset's."""

    device: str
    root: Path | None = None
    untrusted: bool = False


@dataclass
class Spare:
    """A process that may write below `scratch` / WORK; whoever takes it removes that folder."""

    role: str
    sandboxed: SandboxedProcess
    scratch: Path
    token: str = ""

    @property
    def folder(self) -> Path:
        return self.scratch / WORK

    def is_ready(self) -> bool:
        """Wait until it has loaded what it needs; False if that failed, which is nobody's fault."""
        if not self.token:
            return True
        try:
            answer = self.sandboxed.answer(self.token, time.monotonic() + _SECONDS)
        except FictlError:
            return False
        self.token = ""
        return bool(answer.get("ok"))

    def close(self) -> None:
        self.sandboxed.close()
        remove(self.scratch)


class Spares:
    """The spares of a worker, for `ahead` evaluations, and the processes that have done their work.
    While calls are timed, none of them may be starting or ending.

    `reference_stays`: the next definition is served by the processes of the one before.
    """

    def __init__(self, purpose: For, ahead: int = 0) -> None:
        self.purpose = purpose
        self.reference_stays = False
        self._ahead = ahead or _evaluations_ahead(purpose.device)
        self._spares: list[Spare] = []
        self._leaving: list[tuple[SandboxedProcess, Path | None]] = []
        self._is_closed = False

    def take(self, role: str) -> Spare | None:
        """Hand one out; None if there is none that works."""
        for spare in [spare for spare in self._spares if spare.role == role]:
            self._spares.remove(spare)
            if spare.is_ready():
                return spare
            spare.close()
        return None

    def refill(self) -> None:
        """Start processes, unless there are enough for the next evaluation; `settle` waits for
        them.
        """
        if not self._missing(1):
            return
        ahead = self._ahead if self.reference_stays else min(self._ahead, _WITH_REFERENCES)
        for role in self._missing(ahead):
            with suppress(FictlError):  # Whoever needs one starts it, and says what is wrong.
                self._spares.append(self._started(role))

    def settle(self) -> None:
        """Wait until none is starting or ending."""
        self.depart()
        for spare in [*self._spares]:
            if not spare.is_ready():
                self._spares.remove(spare)
                spare.close()

    def retire(self, process: SandboxedProcess, folder: Path | None) -> None:
        """Have a process ended, and its folder removed, while others begin; `depart` waits for it."""
        process.end_soon()
        self._leaving.append((process, folder))
        if self._is_closed:
            self.depart()

    def depart(self) -> None:
        """Wait until what was retired has gone, with its memory on the GPU."""
        leaving, self._leaving = self._leaving, []
        for process, _ in leaving:
            process.close()
        for _, folder in leaving:  # The folder of one may be in that of another.
            if folder is not None:
                remove(folder)

    def close(self) -> None:
        self._is_closed = True
        for spare in self._spares:
            spare.sandboxed.end_soon()
        self.depart()
        while self._spares:
            self._spares.pop().close()

    def _missing(self, evaluations: int) -> list[str]:
        needed = (SOLUTION,) if self.reference_stays else (*_REFERENCE, SOLUTION)
        missing = Counter(needed * evaluations)
        missing.subtract(spare.role for spare in self._spares)
        return [*missing.elements()]

    def _started(self, role: str) -> Spare:
        purpose, scratch = self.purpose, new_scratch(f"spare-{role}")
        try:
            sandboxed = start(
                role,
                scratch / WORK,
                hidden=hidden_from_solutions(purpose.root) if role == SOLUTION else (),
                device=purpose.device,
                gpu=None,
                untrusted=purpose.untrusted,
            )
        except BaseException:
            remove(scratch)
            raise
        spare = Spare(role, sandboxed, scratch)
        try:
            request = {"op": "warm", "device": purpose.device, "records": role == SOLUTION}
            spare.token = sandboxed.tell(request, time.monotonic() + _SECONDS)
        except BaseException:
            spare.close()
            raise
        return spare


def _evaluations_ahead(device: str) -> int:
    """Return for how many evaluations processes start together."""
    smi = read_smi() if device == "cuda" else None
    sizes = [gpu.get("memory.total", "") for gpu in smi.gpus] if smi is not None else []
    is_large = sizes and all(size.isdecimal() and int(size) >= _LARGE for size in sizes)
    return _ON_GPU if is_large else 1
