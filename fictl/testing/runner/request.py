"""Request of `fictl test`, turned into arguments of pytest and processes to run it in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from fictl import settings
from fictl.errors import UsageError
from fictl.gpu_lock.chosen import NO_GPUS, ChosenGpus
from fictl.project import OpFolder
from fictl.report.test_report import TestReport
from fictl.testing.runner.run_tests import run_tests
from fictl.testing.runner.spread import TestSlot, find_slots
from fictl.testing.runner.watch import Told


@dataclass(frozen=True)
class TestRequest:
    """Tests of `folders` on `device`, filtered by the other fields.

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
    chosen: ChosenGpus = NO_GPUS

    def run(self, say: Callable[[str], object], told: Told) -> TestReport:
        folders = self._having_case() if self.case else self.folders
        report = run_tests(
            folders,
            say,
            [*self._words()],
            self._variables(),
            self.timeout,
            slots=self._slots(),
            ranks=self._ranks(),
            told=told,
        )
        return replace(report, gpus=str(self.chosen))

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
