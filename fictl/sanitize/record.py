"""Record: one report of compute-sanitizer, in the words of the emulated checker."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fictl.emu.report import Report
from fictl.jit.store.entry import MODULE


@dataclass(frozen=True)
class HostFrame:
    """A call on the host that led to a launch; those of Python have a file, libraries a module."""

    function: str
    file: str = ""
    line: int = 0
    module: str = ""


@dataclass(frozen=True)
class SanitizerReport:
    """`test` is the one that ran; `host` begins with the call nearest to the launch."""

    report: Report
    host: tuple[HostFrame, ...] = ()
    test: str = ""

    @property
    def is_of_an_op(self) -> bool:
        """A kernel that fictl built has lines of source, and its launch comes by way of a module.

        All other kernels, torch's own, are not what was asked about; their assertions have a line.
        """
        lines = self.report.place.line > 0 and self.report.kind != "assert"
        return lines or any(Path(frame.module).name == MODULE for frame in self.host)

    def text(self) -> str:
        return self.report.text()
