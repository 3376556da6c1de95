"""One benchmark case as a call for profilers and debuggers, and the program that runs it."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from fictl import settings
from fictl.case.contender import own
from fictl.case.options import CaseOptions
from fictl.case.selection import selected_cases
from fictl.case.trial import CaseTrial
from fictl.case.workload import TrialWorkload
from fictl.child.message import send
from fictl.errors import FictlError
from fictl.project import OpFolder
from fictl.trace import Case


@dataclass(frozen=True)
class CaseCall:
    """A case that can be called: it runs the op once, on the tensors of its trial."""

    folder: OpFolder
    case: Case
    trial: CaseTrial

    def __call__(self) -> None:
        self.trial.copy(0)()

    @property
    def problem(self) -> str:
        """Call the op once and say what is wrong with its results; '' where nothing is."""
        return self.trial.attempt(0)


def case_calls(
    folder: OpFolder, names: Collection[str], options: CaseOptions
) -> Iterator[CaseCall]:
    """Calls of every case that `options` choose; tensors are allocated by the first call."""
    device = "cpu" if settings.DEVICE.get() == "emu" else "cuda"
    for subject, case in selected_cases(folder, names, options):
        workload = TrialWorkload(subject, case, device, options.seed, refcheck=options.refcheck)
        yield CaseCall(folder, case, CaseTrial(own(subject), workload))


def main(arguments: Sequence[str]) -> int:
    """Warm up the first case that a request chooses, then call it.

    The request is {op: its file, functions, options, calls}. cudaProfilerStart and the NVTX range
    `fictl` enclose the calls alone.
    """
    request = json.loads(arguments[0])
    options = CaseOptions.from_dict(request["options"])
    folder = OpFolder.of(request["op"])
    try:
        call = next(case_calls(folder, request["functions"], options))
        call()
        send("case", case=str(call.case))
        with _collected():
            for _ in range(request.get("calls", 1)):
                call()
    except FictlError as error:
        send("error", message=error.message, hint=error.hint, code=error.exit_code)
        return error.exit_code
    send("done")
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
