"""One report of compute-sanitizer, translated to a report of the emulated device."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fictl.emu.report import Report
from fictl.jit.store.entry import MODULE


@dataclass(frozen=True)
class HostFrame:
    """A host call on the way to a launch: in Python with a file, in a library with a module."""

    function: str
    file: str = ""
    line: int = 0
    module: str = ""


@dataclass(frozen=True)
class SanitizerReport:
    """A report with the test that was running and the host calls, the one at the launch first."""

    report: Report
    host: tuple[HostFrame, ...] = ()
    test: str = ""

    @property
    def is_of_an_op(self) -> bool:
        """True for a kernel built by fictl: it has source lines, and a module launches it.

        Other kernels, such as torch's, are not reported; their assertions have a line, too.
        """
        lines = self.report.place.line > 0 and self.report.kind != "assert"
        return lines or any(Path(frame.module).name == MODULE for frame in self.host)

    def text(self) -> str:
        return self.report.text()
