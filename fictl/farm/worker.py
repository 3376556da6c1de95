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
from dataclasses import replace
from typing import Any, NoReturn

from fictl.child.family import end_below
from fictl.child.requests import Answers, Requests
from fictl.child.sure_signal import handle_surely
from fictl.errors import FictlError
from fictl.farm.exchange import Exchange
from fictl.farm.facts import facts_of
from fictl.farm.line import (
    Absent,
    AtRemote,
    BuildSolution,
    EvaluateWorkload,
    Frame,
    Greeting,
    Heartbeat,
    Held,
    HoldGpu,
    JobStarted,
    Leaving,
    NotDone,
    Numbered,
    RunCommand,
    Taken,
    greeting_in,
)
from fictl.farm.relay import relay_to
from fictl.farm.serve.commands import CommandServer
from fictl.farm.serve.judging import JudgeServer
from fictl.gpu_lock.hold import held
from fictl.gpu_lock.visible import visible
from fictl.judge.sandbox import kernel

_OF_FILES = (Frame, Absent, AtRemote, Taken)
_KINDS = (HoldGpu, JobStarted, BuildSolution, EvaluateWorkload, RunCommand, *_OF_FILES)
# A driver that died leaves nothing behind for longer than this; and an exception, which is how a
# signal ends this process, may be lost in somebody's destructor.
_LAST_SECONDS = 2.5
_GOODBYE_SECONDS = 1.0


def main() -> int:
    worker = FarmWorker()
    # What a compiler or a test leaves behind becomes a child of this process, and ends with it.
    kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
    handle_surely(signal.SIGTERM, worker.terminated)
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
        self._goodbye: threading.Thread | None = None
        self._judge = JudgeServer(self._exchange, self._greeting)
        self._commands = CommandServer(self._exchange)

    def serve(self) -> None:
        greeting = next(self._requests, None)
        if greeting is None:
            return
        self._greeting = greeting
        self._judge = JudgeServer(self._exchange, greeting)
        ready = facts_of(greeting)
        remote, self._exchange.relay = relay_to(greeting.remotes)
        self._answers.send(replace(ready, remote=remote))
        threading.Thread(target=self._beat, daemon=True).start()
        for request in self._requests:
            if isinstance(request, JobStarted):
                self._judge.begin(request)
            elif not isinstance(request, _OF_FILES):  # The rest of a file that was refused.
                self._answers.send(replace(self._answer(request), number=request.number))

    def terminated(self, number: int, frame: object) -> None:
        """Leave; a second signal does not interrupt the closing of the judge."""
        threading.Thread(target=_end_soon, daemon=True).start()
        # By a thread, at once: the end of compilers and judges takes longer, and waits for nobody.
        self._goodbye = threading.Thread(target=self._say_goodbye, daemon=True)
        self._goodbye.start()
        end = SystemExit(128 + number)
        if self._answers.is_writing:
            self._answers.interrupted = end
        else:
            raise end

    def close(self) -> None:
        if self._goodbye is not None:
            self._goodbye.join(_GOODBYE_SECONDS)
        self._judge.close()
        self._locked.close()
        end_below(os.getpid())

    def _say_goodbye(self) -> None:
        """Tell whoever reads that the work is for others."""
        if not self._is_left:
            with suppress(OSError):
                self._answers.send(Leaving())

    def _answer(self, request: Any) -> Numbered:
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
                return NotDone(f"{type(request).__name__} came unasked", "", 1)
        except FictlError as error:
            return NotDone.of(error)

    @contextmanager
    def _working(self) -> Iterator[None]:
        self._busy.set()
        try:
            yield
        finally:
            self._busy.clear()

    def _hold_gpu(self) -> None:
        """Lock the GPU of this place, or all that it has, until the process ends."""
        if self._holds or not self._greeting.holds:
            return
        gpus = visible()[: self._greeting.gpus] if self._greeting.device == "cuda" else ()
        wait, note = self._greeting.wait, self._exchange.note
        self._locked.enter_context(held(gpus, wait=wait, note=note))
        self._holds = True

    def _beat(self) -> None:
        while True:
            time.sleep(self._greeting.heartbeat)
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
    end_below(os.getpid())
    os._exit(130)


if __name__ == "__main__":
    sys.exit(main())
