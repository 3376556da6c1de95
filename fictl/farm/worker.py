"""The process of one place: reads work from stdin, writes results to stdout.

Its own stdout is redirected to stderr, so that a reference that prints disturbs nothing.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, NoReturn

from fictl.child.family import descendants
from fictl.child.message import Failed
from fictl.child.requests import Answers, Requests
from fictl.errors import FictlError
from fictl.farm.exchange import Exchange
from fictl.farm.facts import facts_of
from fictl.farm.line import (
    HEARTBEAT_SECONDS,
    Absent,
    BuildSolution,
    EvaluateWorkload,
    Frame,
    Greeting,
    Heartbeat,
    Held,
    HoldGpu,
    JobStarted,
    Leaving,
    RunCommand,
    greeting_in,
)
from fictl.farm.serve.commands import CommandServer
from fictl.farm.serve.judging import JudgeServer
from fictl.gpu_lock.hold import held
from fictl.gpu_lock.visible import visible

_KINDS = (HoldGpu, JobStarted, BuildSolution, EvaluateWorkload, RunCommand, Frame, Absent)
# A driver that died leaves nothing behind for longer than this; and an exception, which is how a
# signal ends this process, may be lost in somebody's destructor.
_LAST_SECONDS = 2.5


def main() -> int:
    worker = FarmWorker()
    signal.signal(signal.SIGTERM, worker.terminated)
    try:
        worker.serve()
    except (KeyboardInterrupt, BrokenPipeError):
        return 130
    finally:
        worker.close()
    return 0


class FarmWorker:
    """Serves one driver; it ends when stdin closes, or at SIGTERM."""

    def __init__(self) -> None:
        self._answers = Answers()
        self._busy = threading.Event()
        self._is_left = False
        self._requests = Requests(_KINDS, self._busy.is_set, greeting_in, self._left_alone)
        self._exchange = Exchange(self._answers.send, lambda: next(self._requests))
        self._greeting = Greeting("")
        self._locked = ExitStack()
        self._holds = False
        self._judge = JudgeServer(self._exchange, self._greeting)
        self._commands = CommandServer(self._exchange)

    def serve(self) -> None:
        greeting = next(self._requests, None)
        if greeting is None:
            return
        self._greeting = greeting
        self._judge = JudgeServer(self._exchange, greeting)
        self._answers.send(facts_of(greeting))
        threading.Thread(target=self._beat, daemon=True).start()
        for request in self._requests:
            if isinstance(request, JobStarted):
                self._judge.begin(request)
            elif not isinstance(request, Frame | Absent):  # The rest of a file that was refused.
                self._answers.send(self._answer(request))

    def terminated(self, number: int, frame: object) -> None:
        """Leave once: a second signal must not interrupt the closing of the judge."""
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        threading.Thread(target=_end_soon, daemon=True).start()
        end = SystemExit(128 + number)
        if self._answers.is_writing:
            self._answers.interrupted = end
        else:
            raise end

    def close(self) -> None:
        # Whoever reads knows at once that the work is for others; the judge takes longer to end.
        if sys.exc_info()[0] is SystemExit and not self._is_left:
            self._answers.interrupted = None
            with suppress(OSError):
                self._answers.send(Leaving())
        self._judge.close()
        self._locked.close()

    def _answer(self, request: Any) -> object:
        try:
            with self._working():
                if isinstance(request, HoldGpu):
                    self._hold_gpu()
                    return Held()
                if isinstance(request, RunCommand):
                    return self._commands.run(request)
                if isinstance(request, BuildSolution):
                    return self._judge.build()
                if isinstance(request, EvaluateWorkload):
                    self._hold_gpu()
                    return self._judge.evaluate(request)
                return Failed(f"{type(request).__name__} came unasked", "", 1)
        except FictlError as error:
            return Failed.of(error)

    @contextmanager
    def _working(self) -> Iterator[None]:
        self._busy.set()
        try:
            yield
        finally:
            self._busy.clear()

    def _hold_gpu(self) -> None:
        """Lock the GPU of this place, until the process ends."""
        if self._holds or not self._greeting.holds:
            return
        gpus = visible()[:1] if self._greeting.device == "cuda" else ()
        wait, note = self._greeting.wait, self._exchange.note
        self._locked.enter_context(held(gpus, wait=wait, note=note))
        self._holds = True

    def _beat(self) -> None:
        while True:
            time.sleep(HEARTBEAT_SECONDS)
            if self._busy.is_set():
                try:
                    self._answers.send(Heartbeat())
                except OSError:
                    return

    def _left_alone(self) -> None:
        """End soon: nobody waits for this process any more."""
        self._is_left = True
        threading.Thread(target=_end_soon, daemon=True).start()


def _end_soon() -> NoReturn:
    time.sleep(_LAST_SECONDS)
    for process in descendants(os.getpid()):
        process.signal(signal.SIGKILL)
    os._exit(130)


if __name__ == "__main__":
    sys.exit(main())
