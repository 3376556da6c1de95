"""The pytest plugin: gates, fixtures, parameters of generated tests, and the journal of outcomes.

It is loaded wherever fictl is installed, and acts only on tests of fictl projects: each hook checks
where the test's file is. For other tests it costs the import of this file.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fictl.testing.hooks import scope
from fictl.testing.hooks.options import add_options

if TYPE_CHECKING:
    from fictl.testing.generated.suite import OpSuite

_SUITES = pytest.StashKey["list[OpSuite]"]()
_NOTHING_TO_BUILD = pytest.mark.skip("made of other ops, it has nothing to build")


@dataclass(frozen=True)
class BrokenOp:
    """Parameter in place of an op whose files cannot be loaded; its tests raise the error."""

    error: Exception


def pytest_addoption(parser: pytest.Parser) -> None:
    add_options(parser)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Register fixtures before any conftest.py, whose fixtures of the same names win."""
    if scope.is_whole(early_config, early_config.known_args_namespace):
        scope.give_fixtures(early_config)


def pytest_configure(config: pytest.Config) -> None:
    if scope.is_whole(config, config.option):
        scope.begin_whole(config)
    if config.getoption("--fictl-defects"):
        from fictl.testing.hooks.defects import Defects

        config.pluginmanager.register(Defects(Path(config.getoption("--fictl-defects"))))
    if config.getoption("--fictl-journal"):
        _record(config)


def pytest_collectstart(collector: pytest.Collector) -> None:
    scope.begin_below(collector)


def _record(config: pytest.Config) -> None:
    from fictl.testing.hooks.record import RECORDER, OutcomeRecorder

    path, part = Path(config.getoption("--fictl-journal")), config.getoption("--fictl-part")
    recorder = OutcomeRecorder(path, _suites(config), part)
    recorder.began(config)
    config.pluginmanager.register(recorder, RECORDER)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark a test that uses the `device` fixture on CUDA, so that `-m needs_gpu` selects it."""
    if not scope.is_ours(item):
        return
    from fictl import settings
    from fictl.testing.hooks import schedules

    if schedules.takes_device(item) and settings.DEVICE.get() == "cuda":
        item.add_marker("needs_gpu")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the generated test that was asked for, or the tests for this number of GPUs."""
    if config.getoption("--fictl-case"):
        _keep(config, items, lambda item: "fictl_case" in getattr(item, "fixturenames", ()))
    if config.getoption("--fictl-gpus"):
        _keep(config, items, lambda item: _is_for_gpus(item, config.getoption("--fictl-gpus")))


def _is_for_gpus(item: pytest.Item, number: int) -> bool:
    """True if a test is for this number of GPUs, or has a malformed marker to report."""
    from fictl.testing.hooks.markers import gpus_of, malformed

    return scope.is_ours(item) and bool(malformed(item) or gpus_of(item) == number)


def _keep(
    config: pytest.Config, items: list[pytest.Item], wanted: Callable[[pytest.Item], bool]
) -> None:
    config.hook.pytest_deselected(items=[item for item in items if not wanted(item)])
    items[:] = filter(wanted, items)


def pytest_runtest_setup(item: pytest.Item) -> None:
    if not scope.is_ours(item):
        return
    from fictl.testing.hooks import gates

    trouble = scope.trouble(item)
    if trouble:
        pytest.fail(trouble, pytrace=False)
    given = getattr(item, "callspec", None)
    for value in given.params.values() if given else ():
        if isinstance(value, BrokenOp):
            raise value.error
    gates.check(item)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, None]:
    """Skip a test whose op does not run on the device, or cannot be built here; name the rank
    that an error of a collective comes from.
    """
    outcome = yield
    error = outcome.excinfo[1] if outcome.excinfo else None
    if error is None or not scope.is_ours(item):
        return
    from fictl.errors import NotInstalled, NotOnDevice
    from fictl.testing.hooks import ranks

    if isinstance(error, NotOnDevice | NotInstalled):
        skipped = pytest.skip.Exception(error.message, _use_item_location=True)
        outcome.force_exception(skipped)
    elif (of_a_rank := ranks.explained(item, error)) is not None:
        outcome.force_exception(of_a_rank)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> None:
    if call.excinfo is not None and scope.is_users(item):
        from fictl.testing.hooks import tracebacks

        tracebacks.shorten(call.excinfo.value)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if not scope.is_ours(metafunc.definition):
        return
    from fictl.testing.hooks import schedules

    schedules.parametrize(metafunc)
    wanted = {"fictl_suite", "fictl_spec", "fictl_arch", "fictl_case"} & set(metafunc.fixturenames)
    if wanted:
        option, suites = metafunc.config.option, _suites(metafunc.config)
        case, seed = option.fictl_case, option.fictl_seed
        rows = [row for suite in suites for row in _rows(suite, wanted, case, seed)]
        names = sorted(wanted)
        given = [pytest.param(*(row[name] for name in names), id=_id(row)) for row in rows]
        if not given and "fictl_spec" in wanted:
            given = [pytest.param(*[None] * len(names), marks=_NOTHING_TO_BUILD, id="none")]
        metafunc.parametrize(names, given)


def _rows(suite: OpSuite, wanted: set[str], case: str, seed: int) -> list[dict[str, Any]]:
    """Parameters of each contract test: a suite with its cases, or with its specs and archs."""
    from fictl.arch import parse_archs

    try:
        if "fictl_case" in wanted:
            return [{"fictl_suite": suite, "fictl_case": one} for one in suite.variants(case, seed)]
        return [
            {"fictl_suite": suite, "fictl_spec": spec, "fictl_arch": arch}
            for spec in suite.specs
            for arch in parse_archs(spec.fallback_archs)
        ]
    except Exception as error:  # One op's broken file must not stop the tests of other ops.
        return [{name: BrokenOp(error) for name in wanted} | {"fictl_suite": suite}]


def _id(row: dict[str, Any]) -> str:
    if any(isinstance(value, BrokenOp) for value in row.values()):
        return str(row["fictl_suite"].name)
    if "fictl_case" in row:
        return str(row["fictl_case"])
    return f"{row['fictl_spec'].name}-{row['fictl_arch']}"


def _suites(config: pytest.Config) -> list[OpSuite]:
    if _SUITES not in config.stash:
        from fictl.project import find
        from fictl.testing.generated.suite import OpSuite

        folders = [folder for name in config.getoption("--fictl-op") for folder in find(name)]
        config.stash[_SUITES] = [OpSuite(folder) for folder in dict.fromkeys(folders)]
    return config.stash[_SUITES]
