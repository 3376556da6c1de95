"""Record of a failed build, so that processes that waited for it do not repeat it."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from pathlib import Path

from fictl import rooted
from fictl.jit.diagnose import BuildFailed, Diagnosis
from fictl.sealed import seal, unseal

FAILED = "failed"
FAILURE = "failure.json"


@dataclass(frozen=True)
class Failure:
    """One failed build: which, when, and the first error of its log."""

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
            return cls(**unseal(rooted.read(module_dir / FAILED / FAILURE)))
        except (OSError, ValueError, TypeError):
            return None

    def write(self, folder: Path) -> None:
        (folder / FAILURE).write_text(seal(asdict(self)), encoding="utf-8")

    def error(self, module: str, module_dir: Path) -> BuildFailed:
        return BuildFailed(module, Diagnosis(self.first, self.hint), module_dir / FAILED)


def raise_failure_since(asked: float, module: str, module_dir: Path, keys: tuple[str, str]) -> None:
    """Raise again a failure that another process recorded while this one waited for its lock."""
    failure = Failure.read(module_dir)
    if failure and (failure.recipe, failure.build) == keys and asked <= failure.when <= time.time():
        raise failure.error(module, module_dir)
