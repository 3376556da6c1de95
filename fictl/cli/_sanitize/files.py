"""The files that fictl sanitize writes beside what it prints."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fictl.user_file import write_text

if TYPE_CHECKING:
    from fictl.report.checked import CheckedOp

Write = Callable[["Sequence[CheckedOp]"], str]


@dataclass(frozen=True)
class Files:
    """One for each option; None where it was not asked for."""

    out: Path | None
    sarif: Path | None
    junit: Path | None

    def write(self, checked: Sequence[CheckedOp]) -> None:
        for option, path, text in self._wanted():
            write_text(option, path, text(checked))

    def _wanted(self) -> Iterator[tuple[str, Path, Write]]:
        if self.out:
            yield "--out", self.out, _lines
        if self.sarif:
            yield "--sarif", self.sarif, _sarif
        if self.junit:
            yield "--junit", self.junit, _junit


def _lines(checked: Sequence[CheckedOp]) -> str:
    findings = (finding for checked_op in checked for finding in checked_op.findings)
    return "".join(json.dumps(finding.to_dict()) + "\n" for finding in findings)


def _sarif(checked: Sequence[CheckedOp]) -> str:
    from fictl.report.sarif import to_sarif

    return json.dumps(to_sarif(checked, Path.cwd()), indent=2) + "\n"


def _junit(checked: Sequence[CheckedOp]) -> str:
    from fictl.report.defects_junit import to_junit

    return to_junit(checked, Path.cwd())
