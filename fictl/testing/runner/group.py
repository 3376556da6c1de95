"""Group of tests in one process; if a test ends the process, a new one runs the rest."""

from __future__ import annotations

import math
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path

from fictl.child.environment import unreplaced
from fictl.errors import FictlError, SetupError, UsageError
from fictl.paths import same_packages
from fictl.process import attached, ending, stream
from fictl.project import OpFolder
from fictl.ranks.launched import Launched, RankEnded
from fictl.report.cause import causes
from fictl.report.outcome import FAILED, TestOutcome
from fictl.report.test_report import TestReport
from fictl.testing.runner.journal import Journal, JournalWriter
from fictl.testing.runner.watch import Told, watched

CONTRACT = Path(__file__).parents[1] / "generated" / "contract.py"

_LEFT = "it was left in the debugger"
# The exit code of a pytest that does not know an option.
_USAGE = 4


@dataclass(frozen=True)
class TestGroup:
    """Tests of some op folders that run in one process after another.

    arguments: words for pytest.
    limit: timeout of one test, in seconds.
    ranks: number of processes that run each test together.
    launcher: command of a tool that runs pytest, and whose exit code it returns.
    cache: folder where pytest keeps what failed, for --lf.
    is_attached: a person debugs the tests at the terminal, which pytest has to itself.
    """

    __test__ = False  # The name is right, and pytest must not collect it.

    folders: Sequence[OpFolder]
    arguments: Sequence[str] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    limit: float = 300.0
    ranks: int = 1
    launcher: Sequence[str] = ()
    cache: Path | None = None
    is_attached: bool = False

    def run(self, say: Callable[[str], object], told: Told) -> TestReport:
        """Run the tests; `say` receives pytest's lines, `told` the journal at intervals."""
        _require_pytest()
        start = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="fictl-test-") as place:
            journal = Journal(Path(place) / "journal")
            while not journal.ended:
                self._go_on(journal, say, told)
                if self._stops_at_first and any(map(_is_failed, journal.outcomes.values())):
                    break
        seconds = time.monotonic() - start
        outcomes = tuple(journal.outcomes.values())
        return TestReport(outcomes, seconds, journal.device, journal.schedules)

    @property
    def _stops_at_first(self) -> bool:
        return not {"-x", "--exitfirst"}.isdisjoint(self.arguments)

    def _go_on(self, journal: Journal, say: Callable[[str], object], told: Told) -> None:
        """Run one process, until all tests have run or one of them has ended it."""
        journal.begin()
        before = len(journal.outcomes)
        root = self.folders[0].project.root
        argv, variables = self._argv(journal.path), self._environment()
        with watched(journal, self.limit, told) as late:
            if self.is_attached:
                code = attached(argv, cwd=root, env=variables)
            else:
                code = stream(argv, say, cwd=root, env=variables).code
        ending = "ended its process" if self.launcher else _ending(code)
        how = f"did not end within {self.limit:g} s" if late.is_set() else ending
        if journal.ended:
            for outcome in journal.running.values():
                journal.outcomes[outcome.test] = replace(outcome, reason=_LEFT)
            if code < 0:
                journal.outcomes["exit"] = TestOutcome(
                    "the exit of the process", FAILED, reason=how
                )
            return
        if journal.running or code < 0:
            failed = filter(_is_failed, journal.outcomes.values())
            first = [cause.first.test for cause in causes(failed)]
            for texts in journal.unsaid.values():
                for test in filter(texts.__contains__, first):
                    say(texts[test])
        self._blame_running(journal, how, self.limit if late.is_set() else 0.0)
        if len(journal.outcomes) == before:
            kind = UsageError if code == _USAGE else FictlError
            raise kind(
                f"pytest {how} before it ran a test",
                "pytest --help lists what it takes; without --json, its own words are shown",
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
            *(("-o", f"cache_dir={self.cache}") if self.cache else ("-p", "no:cacheprovider")),
            *(("--fictl-attached",) if self.is_attached else ()),
            *(("--log-disable=c10d-NullHandler-default",) if self.ranks > 1 else ()),
            "-q",
            # What failed is told once, by fictl, and its traceback by what is the user's of it.
            "-rN",
            "--tb=short",
            # One file that cannot be imported must not stop the tests of others.
            "--continue-on-collection-errors",
            *self._timeout_words(),
            f"--rootdir={root}",
            f"--fictl-journal={journal}",
            *(f"--fictl-op={folder}" for folder in self.folders),
            *(str(path) for folder in self.folders for path in folder.tests),
            str(CONTRACT),
            *self.arguments,
        ]

    def _timeout_words(self) -> tuple[str, ...]:
        """Print the traceback of a test shortly before its timeout, if it has one."""
        if math.isinf(self.limit):
            return ()
        return ("-o", f"faulthandler_timeout={max(self.limit - 0.5, self.limit / 2)}")

    def _environment(self) -> dict[str, str]:
        # As torchrun does: the ranks share the cores.
        threads = {"OMP_NUM_THREADS": "1"} if self.ranks > 1 else {}
        return {**same_packages(), **unreplaced(), **threads, **self.variables}


def _is_failed(outcome: TestOutcome) -> bool:
    return outcome.outcome == FAILED


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
