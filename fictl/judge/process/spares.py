"""Spare processes: started, sandboxed and, on a GPU, with a context, before anybody needs them.

A process that has used a GPU cannot be forked, so each of them waits for one solution, or one
reference, and ends with it.
"""

from __future__ import annotations

import time
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

# For a definition: its reference, a process that times it, and one for the solution.
_WANTED = (REFERENCE, SOLUTION, SOLUTION)
# A GPU's contexts take longer to make than the part of an evaluation in which nothing is timed: there
# those of the next definition are ready while those of the one after it start, if the GPU has so many
# MiB of memory.
_DEFINITIONS_ON_GPU, _LARGE = 2, 32 << 10
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
    """The spares of a worker, and the processes that have done their work. While calls are timed,
    none of them may be starting or ending.
    """

    def __init__(self, purpose: For) -> None:
        self.purpose = purpose
        self._wanted = _WANTED * _definitions(purpose.device)
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

    def refill(self, but: int = 0) -> None:
        """Start what was taken, but for the last so many; `settle` waits for it."""
        left = [spare.role for spare in self._spares]
        missing = []
        for role in self._wanted:
            if role in left:
                left.remove(role)
            else:
                missing.append(role)
        for role in missing[: max(0, len(missing) - but)]:
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


def _definitions(device: str) -> int:
    """Return for how many definitions processes wait."""
    smi = read_smi() if device == "cuda" else None
    sizes = [gpu.get("memory.total", "") for gpu in smi.gpus] if smi is not None else []
    is_large = sizes and all(size.isdecimal() and int(size) >= _LARGE for size in sizes)
    return _DEFINITIONS_ON_GPU if is_large else 1
