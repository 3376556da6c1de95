"""Spare processes: started, sandboxed and, on a GPU, with a context, before anybody needs them.

A process that has used a GPU cannot be forked, so each of them waits for one solution, or for
references, and ends with them.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
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
# On a GPU a start takes longer than the part of an evaluation in which nothing is timed, but several at
# once take little longer than one. So those of so many evaluations are ready, or starting beside each
# other, if the GPU has so many MiB of memory.
_ON_GPU, _LARGE = 4, 32 << 10
_WITH_REFERENCES = 2  # So many of them, where each needs processes for its reference, too.
# Most seconds of a start, without those in which it was stopped.
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
    """A process that may write below `scratch` / WORK; whoever takes it removes that folder.

    It starts until it has answered the request with this `token`, by the `deadline`.
    """

    role: str
    sandboxed: SandboxedProcess
    scratch: Path
    token: str = ""
    deadline: float = 0.0

    @property
    def folder(self) -> Path:
        return self.scratch / WORK

    def is_starting(self) -> bool:
        """Tell, without waiting, whether it still loads what it needs."""
        return bool(self.token) and not self.sandboxed.has_answered()

    def is_ready(self) -> bool:
        """Wait until it has loaded what it needs; False if that failed, which is nobody's fault."""
        if not self.token:
            return True
        try:
            answer = self.sandboxed.answer(self.token, self.deadline)
        except FictlError:
            return False
        self.token = ""
        return bool(answer.get("ok"))

    def close(self) -> None:
        self.sandboxed.close()
        remove(self.scratch)


class Spares:
    """The spares of a worker, for `ahead` evaluations, and the processes that have done their work.

    Processes start while nothing is timed: in a `quiet` block those that are starting are stopped, and
    none is ending. So nobody waits for a start but for that of its own process.

    `reference_stays`: the next definition is served by the processes of the one before.
    """

    def __init__(self, purpose: For, ahead: int = 0) -> None:
        self.purpose = purpose
        self.reference_stays = False
        self._ahead = ahead or _evaluations_ahead(purpose.device)
        self._spares: list[Spare] = []
        self._stopped: list[Spare] = []
        self._leaving: list[tuple[SandboxedProcess | None, Path | None]] = []
        self._quiet_since: float | None = None
        self._is_closed = False

    def take(self, role: str) -> Spare | None:
        """Hand out one that is ready, or wait for the one that started first; None if none works."""
        while spare := self._next(role):
            self._spares.remove(spare)
            if spare in self._stopped:
                self._go_on(spare)
            if spare.is_ready():
                return spare
            spare.close()
        return None

    def refill(self) -> None:
        """Start as many processes as are missing for the next evaluations."""
        if self._quiet_since is not None:
            return
        self._drop_late_ones()
        ahead = self._ahead if self.reference_stays else min(self._ahead, _WITH_REFERENCES)
        for role in self._missing(ahead):
            with suppress(FictlError):  # Whoever needs one starts it, and says what is wrong.
                self._spares.append(self._started(role))

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """Wait until none is ending, and have those that are starting stopped for the time of the block."""
        self.depart()
        self._quiet_since = time.monotonic()
        self._stopped = [spare for spare in self._spares if spare.is_starting()]
        try:
            self._stop()
            yield
        finally:
            for spare in [*self._stopped]:
                self._go_on(spare)
            self._quiet_since = None

    def retire(self, process: SandboxedProcess | None, folder: Path | None) -> None:
        """Have a process ended, and its folder removed, while others begin; `depart` waits for it."""
        if process is not None:
            process.end_soon()
        self._leaving.append((process, folder))
        if self._is_closed:
            self.depart()

    def depart(self) -> None:
        """Wait until what was retired has gone, with its memory on the GPU."""
        leaving, self._leaving = self._leaving, []
        for process, _ in leaving:
            if process is not None:
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

    def _next(self, role: str) -> Spare | None:
        alike = [spare for spare in self._spares if spare.role == role]
        return next((spare for spare in alike if not spare.is_starting()), next(iter(alike), None))

    def _stop(self) -> None:
        """Have them stopped, all at once; one that does not stop is ended."""
        for spare in self._stopped:
            spare.sandboxed.stop_soon()
        for spare in [*self._stopped]:
            if not spare.sandboxed.has_stopped():
                self._stopped.remove(spare)
                self._drop(spare)

    def _go_on(self, spare: Spare) -> None:
        assert self._quiet_since is not None
        self._stopped.remove(spare)
        spare.sandboxed.go_on()
        spare.deadline += time.monotonic() - self._quiet_since

    def _drop_late_ones(self) -> None:
        for spare in [*self._spares]:
            if spare.is_starting() and time.monotonic() > spare.deadline:
                self._drop(spare)

    def _drop(self, spare: Spare) -> None:
        self._spares.remove(spare)
        spare.close()

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
        spare = Spare(role, sandboxed, scratch, deadline=time.monotonic() + _SECONDS)
        try:
            request = {"op": "warm", "device": purpose.device, "records": role == SOLUTION}
            spare.token = sandboxed.tell(request, spare.deadline)
        except BaseException:
            spare.close()
            raise
        return spare


def _evaluations_ahead(device: str) -> int:
    """Return for how many evaluations processes wait or start."""
    smi = read_smi() if device == "cuda" else None
    sizes = [gpu.get("memory.total", "") for gpu in smi.gpus] if smi is not None else []
    is_large = sizes and all(size.isdecimal() and int(size) >= _LARGE for size in sizes)
    return _ON_GPU if is_large else 1
