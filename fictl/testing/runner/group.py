"""Group of tests in one process; if a test ends the process, a new one runs the rest."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path

from fictl.errors import FictlError, SetupError
from fictl.paths import same_packages
from fictl.process import ending, stream
from fictl.project import OpFolder
from fictl.ranks.launched import Launched, RankEnded
from fictl.report.outcome import FAILED, TestOutcome
from fictl.report.test_report import TestReport
from fictl.testing.runner.journal import Journal, JournalWriter
from fictl.testing.runner.watch import Told, watched

CONTRACT = Path(__file__).parents[1] / "generated" / "contract.py"


@dataclass(frozen=True)
class TestGroup:
    """Tests of some op folders that run in one process after another.

    arguments: words for pytest.
    limit: timeout of one test, in seconds.
    ranks: number of processes that run each test together.
    launcher: command of a tool that runs pytest, and whose exit code it returns.
    """

    __test__ = False  # The name is right, and pytest must not collect it.

    folders: Sequence[OpFolder]
    arguments: Sequence[str] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    limit: float = 300.0
    ranks: int = 1
    launcher: Sequence[str] = ()

    def run(self, say: Callable[[str], object], told: Told) -> TestReport:
        """Run the tests; `say` receives pytest's lines, `told` the journal at intervals."""
        _require_pytest()
        start = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="fictl-test-") as place:
            journal = Journal(Path(place) / "journal")
            while not journal.ended:
                self._go_on(journal, say, told)
        seconds = time.monotonic() - start
        outcomes = tuple(journal.outcomes.values())
        return TestReport(outcomes, seconds, journal.device, journal.schedules)

    def _go_on(self, journal: Journal, say: Callable[[str], object], told: Told) -> None:
        """Run one process, until all tests have run or one of them has ended it."""
        journal.begin()
        before = len(journal.outcomes)
        root = self.folders[0].project.root
        with watched(journal, self.limit, told) as late:
            code = stream(self._argv(journal.path), say, cwd=root, env=self._environment()).code
        ending = "ended its process" if self.launcher else _ending(code)
        how = f"did not end within {self.limit:g} s" if late.is_set() else ending
        if journal.ended:
            if code < 0:
                journal.outcomes["exit"] = TestOutcome(
                    "the exit of the process", FAILED, reason=how
                )
            return
        if journal.running or code < 0:
            for text in journal.unsaid:
                say(text)
        self._blame_running(journal, how, self.limit if late.is_set() else 0.0)
        if len(journal.outcomes) == before:
            raise FictlError(
                f"pytest {how} before it ran a test",
                "run it again without --json to see what it says",
            )

    def _blame_running(self, journal: Journal, how: str, seconds: float) -> None:
        """Record why the running tests failed: of several ranks, that of the one that is known to
        have ended all; the others may have gone on to a test that is not at fault.
        """
        ended = self._launched(journal.path).ended() if self.ranks > 1 and not seconds else None
        known = journal.verdict or ((ended.rank, str(ended)) if ended else None)
        blamed, why = known if known and known[0] in journal.running else (None, how)
        for rank, outcome in tuple(journal.running.items()):
            if blamed in (None, rank):
                ended_it = replace(outcome, reason=why, seconds=seconds)
                JournalWriter(journal.path, rank).finished(ended_it)
                _add(journal, outcome.test, ended)
        journal.read()

    def _argv(self, journal: Path) -> list[str]:
        ranks = self._launched(journal).words if self.ranks > 1 else ()
        pytest = (sys.executable, "-m", "pytest", *self._words(journal))
        return [*self.launcher, *ranks, *pytest]

    def _launched(self, journal: Path) -> Launched:
        return Launched(self.ranks, journal.with_name("ranks.json"))

    def _words(self, journal: Path) -> list[str]:
        # Why --rootdir, and the contract last: the project's own configuration and file names
        # count, not those of the folder where fictl lies.
        project = self.folders[0].project
        root = os.path.commonpath([project.root, project.tests])
        return [
            "-p",
            "fictl.testing.plugin",
            "--import-mode=importlib",
            "-p",
            "no:cacheprovider",
            "-q",
            # One file that cannot be imported must not stop the tests of others.
            "--continue-on-collection-errors",
            # Prints the traceback of a test shortly before its timeout.
            "-o",
            f"faulthandler_timeout={max(self.limit - 0.5, self.limit / 2)}",
            f"--rootdir={root}",
            f"--fictl-journal={journal}",
            *(f"--fictl-op={folder}" for folder in self.folders),
            *(str(folder.test) for folder in self.folders if os.path.isfile(folder.test)),
            str(CONTRACT),
            *self.arguments,
        ]

    def _environment(self) -> dict[str, str]:
        # As torchrun does: the ranks share the cores.
        threads = {"OMP_NUM_THREADS": "1"} if self.ranks > 1 else {}
        return {**same_packages(), **threads, **self.variables}


def _ending(code: int) -> str:
    if code == -signal.SIGKILL:
        return "ended with SIGKILL, as where the system is out of memory"
    return f"ended with {ending(code)}"


def _add(journal: Journal, test: str, ended: RankEnded | None) -> None:
    """Add how a rank ended to what another has said of it; a verdict says it better than both."""
    other = journal.outcomes.get(test)
    if other is not None and journal.verdict is not None:
        journal.outcomes[test] = replace(other, reason=journal.verdict[1])
    elif other is not None and ended is not None:
        journal.outcomes[test] = replace(other, reason=f"{other.reason} ({ended})")


def _require_pytest() -> None:
    if find_spec("pytest") is None:
        raise SetupError("pytest is not installed, and tests run with it", "pip install pytest")
