"""One benchmark case as a call for profilers and debuggers, and the program that runs it."""

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
from fictl.case.selection import selected_cases
from fictl.case.trial import CaseTrial
from fictl.case.workload import TrialWorkload
from fictl.child.message import Done, Failed, send
from fictl.child.program import request_in
from fictl.errors import FictlError
from fictl.project import OpFolder
from fictl.trace import Case


@dataclass(frozen=True)
class CaseCall:
    """A callable case: it runs the op once, on the tensors of its trial."""

    folder: OpFolder
    case: Case
    trial: CaseTrial

    def __call__(self) -> None:
        self.trial.copy(0)()

    @property
    def problem(self) -> str:
        """Call the op once and say what is wrong with its results, or ''."""
        return self.trial.attempt(0)


def case_calls(
    folder: OpFolder, names: Collection[str], options: CaseOptions
) -> Iterator[CaseCall]:
    """Yield a call for every chosen case; its first call allocates the tensors."""
    device = "cpu" if settings.DEVICE.get() == "emu" else "cuda"
    for subject, case in selected_cases(folder, names, options):
        workload = TrialWorkload(subject, case, device, options.seed, refcheck=options.refcheck)
        yield CaseCall(folder, case, CaseTrial(own(subject), workload))


def main(arguments: Sequence[str]) -> int:
    """Warm up the first case that a request chooses, then call it.

    cudaProfilerStart and the NVTX range `fictl` enclose only these calls.
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
