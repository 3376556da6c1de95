"""Request of `fictl test`, turned into arguments of pytest and processes to run it in."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fictl import settings
from fictl.errors import UsageError
from fictl.gpu_lock.chosen import NO_GPUS, ChosenGpus
from fictl.paths import cache_root
from fictl.project import OpFolder
from fictl.report.test_report import TestReport
from fictl.testing.runner.run_tests import run_tests
from fictl.testing.runner.spread import TestSlot, find_slots
from fictl.testing.runner.watch import Told

# Words of pytest with which a person debugs at the terminal; for as long as it takes.
_DEBUGGERS = frozenset(("--pdb", "--trace"))
_AT_TERMINAL = _DEBUGGERS | {"-s", "--capture=no"}
_LATER = frozenset(("--lf", "--last-failed", "--ff", "--failed-first", "--sw", "--stepwise"))
_ALONE = _AT_TERMINAL | _LATER


@dataclass(frozen=True)
class TestRequest:
    """Tests of `folders` on `device`, filtered by the other fields.

    seed: of all random inputs, else another one in every run.
    passed_on: words for pytest.
    chosen: the GPUs of the ranks.
    """

    __test__ = False  # The name is right, and pytest must not collect it.

    folders: Sequence[OpFolder]
    device: str
    schedule: str = ""
    keyword: str = ""
    case: str = ""
    parallel: str = ""
    gpus: int = 0
    timeout: float = 300.0
    require_arch: bool = False
    seed: int | None = None
    passed_on: Sequence[str] = ()
    chosen: ChosenGpus = NO_GPUS

    def run(self, say: Callable[[str], object], told: Told) -> TestReport:
        self._refuse_several()
        folders = self._having_case() if self.case else self.folders
        report = run_tests(
            folders,
            say,
            [*self._words()],
            self._variables(),
            self.timeout if _DEBUGGERS.isdisjoint(self.passed_on) else math.inf,
            slots=self._slots(),
            ranks=self._ranks(),
            seed=self.seed,
            cache=self._cache(),
            is_attached=self.is_attached,
            told=told,
        )
        return replace(report, gpus=str(self.chosen))

    @property
    def is_attached(self) -> bool:
        """True where pytest is to have the terminal to itself."""
        return not _AT_TERMINAL.isdisjoint(self.passed_on)

    def _refuse_several(self) -> None:
        """Refuse words that need all tests to be in one process."""
        several = "-n" if self.parallel else "--gpus" if self.gpus else ""
        alone = _ALONE.intersection(self.passed_on)
        if several and alone:
            raise UsageError(
                f"{min(alone)} and {several} exclude each other",
                "the tests are then in several processes; leave one of them out",
            )

    def _cache(self) -> Path | None:
        """Return the folder where pytest keeps what failed in this project."""
        if self.parallel or self.gpus:
            return None
        root = str(self.folders[0].project.root)
        return cache_root() / "pytest" / hashlib.sha256(root.encode()).hexdigest()[:16]

    @property
    def gpus_in_use(self) -> int:
        """Return how many GPUs the tests run on: the first ones."""
        return len(self._slots()) if self.parallel else max(1, self.gpus)

    def _words(self) -> Iterator[str]:
        if self.keyword:
            yield from ("-k", self.keyword)
        if self.case:
            yield f"--fictl-case={self.case}"
        if self.gpus:
            yield f"--fictl-gpus={self.gpus}"
        if self.require_arch:
            yield "--fictl-require-arch"
        yield from self.passed_on

    def _variables(self) -> dict[str, str]:
        schedule = {settings.EMU_SCHEDULE.name: self.schedule} if self.schedule else {}
        return {**self.chosen.variables, settings.DEVICE.name: self.device, **schedule}

    def _slots(self) -> tuple[TestSlot, ...]:
        if self.parallel and self.gpus:
            raise UsageError("-n and --gpus exclude each other", "the ranks of a test are its own")
        return find_slots(self.parallel, self.device) if self.parallel else ()

    def _ranks(self) -> int:
        """Number of ranks; 1 where GPUs are missing, so that one process skips each test once."""
        from fictl.toolchain import visible_gpus

        enough = self.device == "emu" or len(visible_gpus()) >= self.gpus
        return self.gpus if self.gpus and enough else 1

    def _having_case(self) -> Sequence[OpFolder]:
        """Return the ops that have the generated test; if none has, raise with similar names."""
        from fictl.testing.generated.suite import OpSuite

        having, errors = [], list[UsageError]()
        for folder in self.folders:
            try:
                OpSuite(folder).variants(self.case)
                having.append(folder)
            except UsageError as error:
                errors.append(error)
        if not having:
            raise errors[0]
        return having
