"""What is to be profiled: one case of an op, run by a program that any tool can be put before."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from fictl import settings
from fictl.case.options import CaseOptions
from fictl.errors import SetupError
from fictl.paths import same_packages
from fictl.project import OpFolder

CALLS = 20
# A tool that looks at a case on its own way takes the first that these options choose.
_PROGRAM = "fictl.case.one_case"


@dataclass(frozen=True)
class Request:
    """`functions` and `options.case` name one case; `calls` of it are looked at.

    out: the folder for what is kept; it is made when there is something to keep.
    """

    folder: OpFolder
    functions: frozenset[str]
    options: CaseOptions
    calls: int = CALLS
    out: Path = Path("profiles")

    @property
    def case(self) -> str:
        return self.options.case

    def argv(self) -> list[str]:
        """The program that warms the case up, and calls it inside cudaProfilerStart and -Stop."""
        said = {
            "op": str(self.folder.op),
            "functions": sorted(self.functions),
            "options": self.options.to_dict(),
            "calls": self.calls,
        }
        return [sys.executable, "-m", _PROGRAM, json.dumps(said)]

    def environment(self) -> dict[str, str]:
        """Of that program, beside what this process has: nothing else watches the calls."""
        return {
            settings.DEVICE.name: settings.DEVICE.get(),
            settings.LOGLEVEL.name: "0",
            settings.VALIDATE_INPUTS.name: "0",
            settings.TRACE_DUMP.name: "0",
            **same_packages(),
        }

    def file(self, suffix: str) -> Path:
        """Where something of this case is kept: `out` with the case's name and this ending."""
        try:
            if not os.path.isdir(self.out):
                self.out.mkdir(parents=True)
                # As tools do with caches: nobody commits it by mistake.
                (self.out / ".gitignore").write_text("*\n", encoding="utf-8")
        except OSError as error:
            raise SetupError(
                f"{self.out} cannot be made: {error.strerror}", "--out names another folder"
            ) from error
        return self.out / f"{self.case}{suffix}"
