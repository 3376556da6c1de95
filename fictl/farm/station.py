"""The work of one place: it does tasks of a queue until there are none, or until it fails."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Generic, Protocol, TypeVar

from fictl.child.lost import Lost, NotStarted
from fictl.errors import FictlError, SetupError
from fictl.farm.connection import Preempted
from fictl.farm.loss_rate import FEWEST
from fictl.farm.place import Place
from fictl.farm.task_queue import Task, TaskQueue
from fictl.gpu_lock.hold import GpuBusy

W = TypeVar("W")

_MOST_STARTS = 2
_MOST_ENDS = 5
_PAUSE_SECONDS = 1.0


class Stopped(FictlError):
    """The run was ended during this task."""


class PutOff(FictlError):
    """The task waits for a build. `built` ended there since another task was put off."""

    def __init__(self, waits_for: str, built: tuple[str, ...] = ()) -> None:
        super().__init__("a build is not ready yet")
        self.waits_for, self.built = waits_for, built


class Broken(Lost):
    """The place's device does not work any more, or not until its processes have ended."""


class Doer(Protocol[W]):
    """Does tasks at one place. `stop` is called by other threads and makes `do` raise Stopped.

    `prepare` waits for the place's GPU, before it has a task. `do` reports what it finds. PutOff
    means that it has to be done later. Lost means that the place failed, other SetupErrors that it
    cannot do such work: the task is neither right nor wrong.
    """

    def prepare(self, waits: Callable[[], object]) -> None: ...

    def do(self, task: Task[W]) -> None: ...

    def blame(self, task: Task[W], lost: Lost) -> None:
        """Report that the task ends every process that gets it."""

    def why_unsound(self, task: Task[W]) -> str:
        """Return '' if the place does a sample right, else what went wrong."""

    def stop(self) -> None: ...

    def close(self) -> None: ...


class Station(Generic[W]):
    """A place at work. `left` is told once why it is used no more."""

    def __init__(
        self,
        place: Place,
        doer: Doer[W],
        tasks: TaskQueue[W],
        left: Callable[[Place, str], object],
        held: AbstractContextManager[None] | None = None,
    ) -> None:
        self.place, self.doer = place, doer
        self._tasks, self._left = tasks, left
        self._held = held or nullcontext()
        self._starts = self._losses = self._ends = 0
        self.problem: FictlError | None = None
        self.is_busy = False

    def work(self) -> None:
        """Do tasks until none is left for this place."""
        try:
            with self._held:
                self._prepare()
                while (task := self._tasks.take(self.place.name)) is not None:
                    self.is_busy = True
                    try:
                        self._do(task)
                    finally:
                        self.is_busy = False
        except GpuBusy as busy:
            self._leave(busy.message)
        except Stopped:
            pass

    def _prepare(self) -> None:
        """Have the GPU before the first task, so that no task waits for it.

        A place that does not even start is left to its first task, which goes elsewhere.
        """
        name = self.place.name
        try:
            self.doer.prepare(lambda: self._tasks.step_aside(name))
        except Lost:
            pass
        except SetupError as error:
            self._leave(in_words(error))
        self._tasks.enter(name)

    def _do(self, task: Task[W]) -> None:
        try:
            self.doer.do(task)
        except PutOff as later:
            self._tasks.put_off(task, self.place.name, later.waits_for, later.built)
        except NotStarted as lost:
            self._not_started(task, lost)
        except Preempted as lost:
            self._preempted(task, lost)
        except Lost as lost:
            self._lost(task.lost_at(self.place.name), lost)
        except SetupError as error:
            self.problem = error
            self._tasks.give_back(task)
            self._leave(in_words(error))
        else:
            self._starts = self._losses = self._ends = 0
            self._tasks.loss_rate.ended_well()
            self._tasks.end(task.batch.kind)

    def _lost(self, task: Task[W], lost: Lost) -> None:
        """Give a lost task back, unless three other places, or processes, have lost it before.

        Neither a task nor a place is blamed before this place has done a sample.
        """
        self._losses += 1
        self._tasks.loss_rate.lost()
        places = min(FEWEST, self._tasks.places_for(task.batch.kind))
        is_evidence = self._tasks.loss_rate.is_evidence(len(task.losses))
        is_due = is_evidence and len({*task.losses}) >= places
        if is_due or self._losses >= FEWEST or isinstance(lost, Broken):
            self._losses = 0
            problem = self.doer.why_unsound(task)
            if problem:
                self._tasks.give_back(task)
                self._leave(f"{in_words(lost)}; a sample is not done there either: {problem}")
                return
        if is_due:
            self.doer.blame(task, lost)
            self._tasks.loss_rate.blamed(len(task.losses))
            self._tasks.end(task.batch.kind)
        else:
            self._tasks.give_back(task)

    def _not_started(self, task: Task[W], lost: NotStarted) -> None:
        """Try again once, after a pause; then do without this place."""
        self._starts += 1
        self._tasks.give_back(task)
        if self._starts >= _MOST_STARTS:
            self._leave(in_words(lost))
        else:
            self._tasks.pause(_PAUSE_SECONDS)

    def _preempted(self, task: Task[W], lost: Preempted) -> None:
        """Count no loss; do without a place that is ended again and again."""
        self._ends += 1
        self._tasks.give_back(task)
        if self._ends >= _MOST_ENDS:
            self._leave(in_words(lost))

    def _leave(self, why: str) -> None:
        self._left(self.place, why)
        self._tasks.leave(self.place.name)


def in_words(error: FictlError) -> str:
    return f"{error.message} ({error.hint})" if error.hint else error.message
