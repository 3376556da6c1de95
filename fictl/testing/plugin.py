"""The pytest plugin: gates, fixtures, parameters for the contract, and what `fictl test` hears of it.

It costs a project that is not fictl's nothing but this file's imports.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fictl import settings
from fictl.errors import NotInstalled, NotOnDevice
from fictl.testing.hooks import gates, schedules
from fictl.testing.hooks.ranks import _meeting_point, process_group, ranks
from fictl.testing.hooks.schedules import device
from fictl.user_file import read_text

if TYPE_CHECKING:
    from fictl.testing.generated.suite import OpSuite

__all__ = ["_meeting_point", "device", "process_group", "ranks"]

_SUITES = pytest.StashKey["list[OpSuite]"]()
_NOTHING_TO_BUILD = pytest.mark.skip("made of other ops, it has nothing to build")


@dataclass(frozen=True)
class Broken:
    """In the place of what an op's own files should have given; its tests fail with the error."""

    error: Exception


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("fictl")
    group.addoption("--fictl-op", action="append", default=[], help="op that the contract tests")
    group.addoption("--fictl-case", default="", help="the generated test to run, by its name")
    group.addoption("--fictl-gpus", type=int, help="run the tests that are marked gpus(n)")
    group.addoption("--fictl-journal", help="append outcomes to this file, leave out what it has")
    group.addoption("--fictl-part", default="", help="i/n: run every n-th test from the i-th on")
    group.addoption("--fictl-defects", help="append what kernels report to this file, one a line")
    gates.add_options(group)
    schedules.add_option(group)


def pytest_configure(config: pytest.Config) -> None:
    for marker in gates.MARKERS:
        config.addinivalue_line("markers", marker)
    schedules.configure(config)
    if config.getoption("--fictl-defects"):
        from fictl.testing.hooks.defects import Defects

        config.pluginmanager.register(Defects(Path(config.getoption("--fictl-defects"))))
    if config.getoption("--fictl-journal"):
        _record(config)
    if _says_fictl(config.rootpath / "fictl.toml") or _says_fictl(
        config.rootpath / "pyproject.toml"
    ):
        from fictl.project import Project, mount

        mount(Project.at(config.rootpath))


def _record(config: pytest.Config) -> None:
    from fictl.testing.hooks.record import Recorder

    path, part = Path(config.getoption("--fictl-journal")), config.getoption("--fictl-part")
    recorder = Recorder(path, _suites(config), part)
    recorder.began(config)
    config.pluginmanager.register(recorder)


def _says_fictl(path: Path) -> bool:
    """Whether a project of fictl's may lie here; `import my_kernels` then works in its tests."""
    if not path.is_file():
        return False
    return path.name == "fictl.toml" or "[tool.fictl]" in read_text(path)


def pytest_itemcollected(item: pytest.Item) -> None:
    """A test whose tensors go to a GPU needs one; `-m needs_gpu` finds it."""
    if schedules.takes_device(item) and settings.DEVICE.get() == "cuda":
        item.add_marker("needs_gpu")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """One generated test was asked for, or those for so many GPUs: the others stay out."""
    if config.getoption("--fictl-case"):
        _keep(config, items, lambda item: "fictl_case" in getattr(item, "fixturenames", ()))
    if config.getoption("--fictl-gpus"):
        marked = (config.getoption("--fictl-gpus"),)
        _keep(config, items, lambda i: getattr(i.get_closest_marker("gpus"), "args", 0) == marked)


def _keep(
    config: pytest.Config, items: list[pytest.Item], wanted: Callable[[pytest.Item], bool]
) -> None:
    config.hook.pytest_deselected(items=[item for item in items if not wanted(item)])
    items[:] = filter(wanted, items)


def pytest_runtest_setup(item: pytest.Item) -> None:
    given = getattr(item, "callspec", None)
    for value in given.params.values() if given else ():
        if isinstance(value, Broken):
            raise value.error
    gates.check(item)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, None]:
    """An op that is not for the device, or cannot be built here, is no failure of its tests."""
    outcome = yield
    error = outcome.excinfo[1] if outcome.excinfo else None
    if isinstance(error, NotOnDevice | NotInstalled):
        skipped = pytest.skip.Exception(error.message, _use_item_location=True)
        outcome.force_exception(skipped)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    schedules.parametrize(metafunc)
    wanted = {"fictl_suite", "fictl_spec", "fictl_arch", "fictl_case"} & set(metafunc.fixturenames)
    if wanted:
        option, suites = metafunc.config.option, _suites(metafunc.config)
        said = (option.fictl_case, option.fictl_seed)
        rows = [row for suite in suites for row in _rows(suite, wanted, *said)]
        names = sorted(wanted)
        given = [pytest.param(*(row[name] for name in names), id=_id(row)) for row in rows]
        if not given and "fictl_spec" in wanted:
            given = [pytest.param(*[None] * len(names), marks=_NOTHING_TO_BUILD, id="none")]
        metafunc.parametrize(names, given)


def _rows(suite: OpSuite, wanted: set[str], case: str, seed: int) -> list[dict[str, Any]]:
    """What to call each contract test with: a suite, and its cases or its specs by architecture."""
    from fictl.arch import parse_archs

    try:
        if "fictl_case" in wanted:
            return [
                {"fictl_suite": suite, "fictl_case": each} for each in suite.variants(case, seed)
            ]
        return [
            {"fictl_suite": suite, "fictl_spec": spec, "fictl_arch": arch}
            for spec in suite.specs
            for arch in parse_archs(spec.fallback_archs)
        ]
    except Exception as error:  # One op's broken file leaves the other ops their tests.
        return [{name: Broken(error) for name in wanted} | {"fictl_suite": suite}]


def _id(row: dict[str, Any]) -> str:
    if any(isinstance(value, Broken) for value in row.values()):
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
