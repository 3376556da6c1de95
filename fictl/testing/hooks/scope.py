"""Scope of the plugin: the tests below a fictl project, by the path of their files.

Under `fictl test`, which names ops, the scope is every test that pytest collects.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from fictl.project_file import is_our_checkout, project_folder

_BEGUN = pytest.StashKey["dict[Path, str]"]()
_FIXTURES = pytest.StashKey["set[pytest.Collector]"]()
_PREPARED = pytest.StashKey[bool]()
_PLUGIN = "fictl.testing.hooks.fixtures"


def is_ours(item: pytest.Item | pytest.Collector) -> bool:
    return bool(item.config.getoption("--fictl-op")) or _home(item) is not None


def is_users(item: pytest.Item) -> bool:
    """True for a test of an op, whoever runs it; false for the tests of fictl itself."""
    home = _home(item)
    named = bool(item.config.getoption("--fictl-op"))
    return named or (home is not None and not is_our_checkout(home))


def is_whole(config: pytest.Config, options: Any) -> bool:
    """True if the root folder is in a fictl project, so that all tests are of one project."""
    return bool(options.fictl_op) or project_folder(config.rootpath) is not None


def begin_whole(config: pytest.Config) -> None:
    """Set the plugin up before collection, for all tests."""
    give_fixtures(config)
    root = project_folder(config.rootpath)
    error = _begin(config, root) if root else ""
    if error:
        raise pytest.UsageError(error)
    _prepare(config)


def give_fixtures(config: pytest.Config) -> None:
    """Give the fixtures to all tests; a conftest.py that is registered later may override them."""
    if not config.pluginmanager.has_plugin(_PLUGIN):
        config.pluginmanager.import_plugin(_PLUGIN)


def begin_below(collector: pytest.Collector) -> None:
    """Set the plugin up for the tests below `collector`, if that is in a fictl project."""
    config, home = collector.config, _home(collector)
    if home is None:
        return
    _begin(config, home)
    _prepare(config)
    if not config.pluginmanager.has_plugin(_PLUGIN):
        _give_fixtures_below(collector)


def trouble(item: pytest.Item) -> str:
    """Reason why the project of a test cannot be imported, or ''."""
    home = _home(item)
    return item.config.stash.get(_BEGUN, {}).get(home, "") if home else ""


def _home(node: pytest.Item | pytest.Collector) -> Path | None:
    path: Path | None = getattr(node, "path", None)
    return None if path is None else _home_of(path)


@cache
def _home_of(path: Path) -> Path | None:
    """Kept by file, because it is asked several times of each test."""
    return project_folder(path if os.path.isdir(path) else path.parent)


def _begin(config: pytest.Config, home: Path) -> str:
    """Make the project importable in its tests, as in `import my_kernels`; return the error or ''."""
    begun = config.stash.setdefault(_BEGUN, {})
    if home not in begun:
        begun[home] = _mount(home)
    return begun[home]


def _mount(home: Path) -> str:
    from fictl.errors import FictlError
    from fictl.project import Project, mount

    try:
        # Why not at(): the tests of fictl itself have nothing to import by another name.
        project = Project.of(home)
        if project is not None:
            mount(project)
    except FictlError as error:
        return str(error)
    return ""


def _prepare(config: pytest.Config) -> None:
    """Register the markers and set the seed of the run, once."""
    if config.stash.get(_PREPARED, False):
        return
    config.stash[_PREPARED] = True
    from fictl.testing.hooks import schedules
    from fictl.testing.hooks.bare import BareRun
    from fictl.testing.hooks.markers import MARKERS
    from fictl.testing.hooks.memory import UsedUpMemory
    from fictl.testing.hooks.seeding import Seeding

    for marker in MARKERS:
        config.addinivalue_line("markers", marker)
    schedules.configure(config)
    config.pluginmanager.register(Seeding(config.option.fictl_seed, is_ours))
    if not config.getoption("--fictl-journal"):  # `fictl test` has an outcome of its own for it.
        config.pluginmanager.register(UsedUpMemory(is_ours))
        config.pluginmanager.register(BareRun(config))


def _give_fixtures_below(collector: pytest.Collector) -> None:
    from fictl.testing.hooks.fixtures import register_below

    given = collector.config.stash.setdefault(_FIXTURES, set())
    if not given.intersection(collector.listchain()):
        given.add(collector)
        register_below(collector)
