"""One benchmark case as a call: what profilers and debuggers look at, and the program that runs it."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from fictl import settings
from fictl.case.contender import own
from fictl.case.messages import CaseChosen, CaseRequest
from fictl.case.options import CaseOptions
from fictl.case.selected import selected
from fictl.case.trial import Trial
from fictl.case.workload import Workload
from fictl.child.message import Done, Failed, send
from fictl.child.program import request_in
from fictl.errors import FictlError
from fictl.project import OpFolder
from fictl.trace import Case


@dataclass(frozen=True)
class CaseCall:
    """Calling it runs the op once on tensors of its own: `trial` has them, and checks what it left."""

    folder: OpFolder
    case: Case
    trial: Trial

    def __call__(self) -> None:
        self.trial.copy(0)()

    @property
    def problem(self) -> str:
        """Why what it computes is wrong; '' where nothing is."""
        return self.trial.attempt(0)


def case_calls(
    folder: OpFolder, names: Collection[str], options: CaseOptions
) -> Iterator[CaseCall]:
    """Every case that `options` choose, of the op itself; its tensors are made when it is called."""
    device = "cpu" if settings.DEVICE.get() == "emu" else "cuda"
    for subject, case in selected(folder, names, options):
        workload = Workload(subject, case, device, options.seed, refcheck=options.refcheck)
        yield CaseCall(folder, case, Trial(own(subject), workload))


def main(arguments: Sequence[str]) -> int:
    """Warm the first case of a request up, then call it as often as it says.

    What a tool collects by cudaProfilerStart or by the NVTX range `fictl` is the calls alone.
    """
    request = request_in(arguments, CaseRequest)
    folder = OpFolder.of(request.op)
    try:
        call = next(case_calls(folder, request.functions, request.options))
        call()
        send(CaseChosen(str(call.case)))
        with _collected():
            for _ in range(request.calls):
                call()
    except FictlError as error:
        send(Failed.of(error))
        return error.exit_code
    send(Done())
    return 0


@contextmanager
def _collected() -> Iterator[None]:
    if settings.DEVICE.get() == "emu":
        yield
        return
    import torch

    profiler: Any = torch.cuda.profiler  # Its functions have no types.
    nvtx: Any = torch.cuda.nvtx
    torch.cuda.synchronize()
    profiler.start()
    nvtx.range_push("fictl")
    try:
        yield
        torch.cuda.synchronize()
    finally:
        nvtx.range_pop()
        profiler.stop()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
