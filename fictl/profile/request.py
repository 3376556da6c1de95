"""ProfileRequest: one case of an op, run by a program that any tool can wrap."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from fictl import settings
from fictl.case.messages import CaseRequest
from fictl.case.options import CaseOptions
from fictl.child.environment import unwatched
from fictl.child.program import Program
from fictl.errors import SetupError
from fictl.gpu_lock.chosen import NO_GPUS, ChosenGpus
from fictl.project import OpFolder

CALLS = 20
# A tool with its own way to a case takes the first one that these options select.
_PROGRAM = "fictl.case.one_case"


@dataclass(frozen=True)
class ProfileRequest:
    """Request for `calls` calls of one case, which `functions` and `options.case` select.

    out: the folder for output files, made when the first is written.
    ranks: how many call it together; 0 where one process calls it. gpus: theirs. sized: the name
    of the case with that many ranks.
    """

    folder: OpFolder
    functions: frozenset[str]
    options: CaseOptions
    calls: int = CALLS
    out: Path = Path("profiles")
    ranks: int = 0
    gpus: ChosenGpus = NO_GPUS
    sized: str = ""

    @property
    def case(self) -> str:
        return self.sized or self.options.case

    @property
    def of_case(self) -> CaseRequest:
        functions = tuple(sorted(self.functions))
        return CaseRequest(self.folder.op, functions, self.options.of_cases, self.calls)

    @property
    def program(self) -> Program:
        """The program that warms the case up, and calls it inside cudaProfilerStart and -Stop."""
        variables = {**unwatched(settings.DEVICE.get()), **self.gpus.variables}
        return Program(_PROGRAM, self.of_case, variables)

    def file(self, suffix: str) -> Path:
        """Path of an output file for this case: in `out`, with the case's name and this suffix."""
        try:
            if not os.path.isdir(self.out):
                self.out.mkdir(parents=True)
                # As in tools' cache folders, so that nobody commits it by mistake.
                (self.out / ".gitignore").write_text("*\n", encoding="utf-8")
        except OSError as error:
            raise SetupError(
                f"{self.out} cannot be made: {error.strerror}", "--out names another folder"
            ) from error
        return self.out / f"{self.case}{suffix}"
