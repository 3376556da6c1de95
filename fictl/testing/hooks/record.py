"""Record of outcomes for `fictl test`, and the end of the process after a CUDA fault."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fictl import settings
from fictl.case.device_fault import device_fault, is_out_of_memory
from fictl.report.cause import causes
from fictl.report.outcome import FAILED, OUT_OF_MEMORY, PASSED, SKIPPED, TestOutcome
from fictl.testing.hooks import last_failed, schedules
from fictl.testing.runner.journal import Journal, JournalWriter

if TYPE_CHECKING:
    from fictl.testing.generated.suite import OpSuite

# Characters allowed in one word of pytest's -k.
_KEYWORD = re.compile(r"[\w:+\-.\[\]\\/]+")


# pytest leaves this file out of a test's id: it is outside of the root folder.
_GENERATED = "contract.py"
# The name of the plugin, for other parts of it.
RECORDER = "fictl-outcomes"


class OutcomeRecorder:
    """Pytest plugin that writes a journal of outcomes.

    Tests already in the journal are skipped, so that a new process can continue a run.
    """

    def __init__(self, path: Path, suites: list[OpSuite], part: str) -> None:
        self._path = path
        self._done = Journal(path)
        self._done.read()
        self._writer = JournalWriter(path, int(settings.RANK.get() or 0))
        self._suites = suites
        self._part = part
        self._outcomes: dict[str, TestOutcome] = {}
        self._texts: dict[str, list[str]] = {}
        self._failed: list[TestOutcome] = []
        # Set where this process cannot run the rest of the tests.
        self.has_more = False

    def began(self, config: pytest.Config) -> None:
        last_failed.search_all_files(config)
        if not config.getoption("--fictl-attached"):  # Another group may not read the terminal.
            with suppress(PermissionError):  # The leader of a session leads a group already.
                os.setpgrp()  # So that whoever kills this group kills its children, too.
        emulated = settings.DEVICE.get() == "emu"
        orders = [*map(str, schedules.schedules(config))] if emulated else []
        self._writer.began(settings.DEVICE.get(), orders)

    def told(self, verdict: str) -> None:
        """Record which rank keeps the others waiting, from any thread."""
        self._writer.told(verdict)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        first, step = map(int, (self._part or "0/1").split("/"))
        wanted = [i for i in items[first::step] if name(i) not in self._done.outcomes]
        config.hook.pytest_deselected(items=[item for item in items if item not in wanted])
        items[:] = wanted

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._writer.collected(len(session.items))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed or (report.skipped and isinstance(report.longrepr, tuple)):
            where = report.nodeid or report.fspath
            outcome = FAILED if report.failed else SKIPPED
            self._writer.finished(TestOutcome(where, outcome, 0.0, _reason(report)))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> None:
        self._writer.started(name(item), self._command(item))

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, None]:
        """Fail the test that launched a kernel with a fault, even if it does not synchronize."""
        outcome = yield
        fault = device_fault()
        if fault is not None:
            self.has_more = True
            item.session.shouldfail = "a fault took the GPU's context with it"
            if outcome.excinfo is None:
                outcome.force_exception(fault)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, Any, None]:
        result = yield
        report = result.get_result()
        test, before = name(item), self._outcomes.get(name(item))
        if report.failed:
            self._texts.setdefault(test, [f"____ {test} ____"]).append(report.longreprtext)
        seconds = report.duration + (before.seconds if before else 0.0)
        kind = _kind(report, call)
        reason = "" if kind == PASSED else _reason(report)
        command = "" if kind in (PASSED, SKIPPED) else self._command(item)
        outcome = TestOutcome(test, kind, seconds, reason, command).worse(before)
        self._outcomes[test] = TestOutcome(
            test, outcome.outcome, seconds, outcome.reason, outcome.command
        )

    def pytest_runtest_logfinish(self, nodeid: str, location: tuple[str, int | None, str]) -> None:
        test = _name(nodeid, location)
        outcome = self._outcomes.pop(test)
        if outcome.outcome == FAILED:
            self._failed.append(outcome)
        self._writer.finished(outcome, "\n".join(self._texts.pop(test, ())))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.has_more:
            return
        journal = Journal(self._path)
        journal.read()
        failed = [*filter(None, map(_failed_id, journal.outcomes.values()))]
        if failed:
            last_failed.keep(session.config, failed)
        self._writer.ended()

    def pytest_unconfigure(self) -> None:
        self._writer.printed()

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter
    ) -> Generator[None, Any, None]:
        """Print the first failure of each cause: the others differ in schedule, dtype or size."""
        every = terminalreporter.stats.get("failed", [])
        if not every:
            yield
            return
        first = {cause.first.test for cause in causes(self._failed)}
        terminalreporter.stats["failed"] = [
            report for report in every if _name(report.nodeid, report.location) in first
        ]
        yield
        terminalreporter.stats["failed"] = every

    def _command(self, item: pytest.Item) -> str:
        """Command that runs only this test of an op, on this device and with this schedule."""
        given = getattr(item, "callspec", None)
        given = given.params if given else {}
        op = self._op(item, given)
        if not op:
            return ""
        words = ["fictl", "test", op]
        if settings.DEVICE.get() == "emu":
            words += ["--device", "emu"]
            words += ["--schedule", str(given["device"])] if schedules.takes_device(item) else []
        gpus = item.config.getoption("--fictl-gpus")
        words += ["--gpus", str(gpus)] if gpus else []
        case = given.get("fictl_case")
        if case is not None:
            return shlex.join([*words, "--case", str(case)])
        seed = [] if "fictl_spec" in given else ["--seed", str(item.config.option.fictl_seed)]
        return shlex.join([*words, *seed, "-k", _keyword(item)])

    def _op(self, item: pytest.Item, given: dict[str, Any]) -> str:
        suite = given.get("fictl_suite")
        own = (suite for suite in self._suites if suite.folder.is_test(item.path))
        suite = suite or next(own, None)
        return suite.name if suite else ""


def _failed_id(outcome: TestOutcome) -> str:
    """Id of a failed test as pytest has it; '' for others."""
    return outcome.test.removeprefix(_GENERATED) if outcome.outcome == FAILED else ""


def name(item: pytest.Item) -> str:
    return _name(item.nodeid, item.location)


def _name(nodeid: str, location: tuple[str, int | None, str]) -> str:
    """Id of a test; pytest leaves the file out where it is outside of the root folder."""
    return Path(location[0]).name + nodeid if nodeid.startswith("::") else nodeid


def _keyword(item: pytest.Item) -> str:
    """Word for -k; without the parameters, if they cannot be part of it."""
    fits = _KEYWORD.fullmatch(item.name)
    return item.name if fits else str(getattr(item, "originalname", item.name))


def _kind(report: pytest.TestReport, call: pytest.CallInfo[None]) -> str:
    if report.passed or hasattr(report, "wasxfail"):
        return PASSED
    if report.skipped:
        return SKIPPED
    error = call.excinfo.value if call.excinfo else None
    return OUT_OF_MEMORY if is_out_of_memory(error) else FAILED


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Reason in one line: why the test was skipped, or the error that was raised."""
    longrepr = report.longrepr
    if isinstance(longrepr, tuple):
        return longrepr[2].removeprefix("Skipped: ")
    crash = getattr(longrepr, "reprcrash", None)
    last = str(longrepr).strip().rpartition("\n")[2]
    text = crash.message if crash else getattr(longrepr, "errorstring", last)
    return str(text).strip().partition("\n")[0].removeprefix("E   ")
