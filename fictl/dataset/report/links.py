"""Links: where a report's page finds the sources and the logs that it speaks of."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fictl.dataset.report.result import Result
from fictl.plot.page.document import link_beside

if TYPE_CHECKING:
    from fictl.trace import TraceSet


@dataclass(frozen=True)
class Links:
    """Links from a page to files of the dataset; '' for what is not there, or not beside the page."""

    dataset: TraceSet
    page: Path

    def solution(self, name: str) -> str:
        path = self.dataset.solution_file(name)
        return self._to(path) if path else ""

    def log(self, result: Result) -> str:
        """Link to the lines of results that the failure's whole log is among."""
        definition = self.dataset.definitions.get(result.definition)
        if definition is None:
            return ""
        return self._to(
            self.dataset.files.trace(result.author, definition.op_type, definition.name)
        )

    def _to(self, path: Path) -> str:
        return link_beside(path, self.page, self.dataset.root) if os.path.isfile(path) else ""
