"""A build that failed, left for those who waited for it: they need not try in turn."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from fictl.jit.diagnose import BuildFailed, Diagnosis

FAILED = "failed"
_FILE = "failure.json"


@dataclass(frozen=True)
class Failure:
    """What went wrong with which build, and when."""

    recipe: str
    build: str
    first: str
    hint: str
    when: float

    @classmethod
    def of(cls, recipe: str, build: str, diagnosis: Diagnosis) -> Failure:
        return cls(recipe, build, diagnosis.first, diagnosis.hint, time.time())

    @classmethod
    def read(cls, module_dir: Path) -> Failure | None:
        try:
            return cls(**json.loads((module_dir / FAILED / _FILE).read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None

    def write(self, folder: Path) -> None:
        (folder / _FILE).write_text(json.dumps(asdict(self)), encoding="utf-8")

    def error(self, module: str, module_dir: Path) -> BuildFailed:
        return BuildFailed(module, Diagnosis(self.first, self.hint), module_dir / FAILED)
