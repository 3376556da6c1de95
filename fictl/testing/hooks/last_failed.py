"""pytest's --lf for tests with a seed in their names: the seed of the failed run is kept with them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

_KEY, _FAILED = "fictl/seed", "cache/lastfailed"
_BY_FILE = "lfplugin-collwrapper"
_OPTIONS = ("lf", "failedfirst", "stepwise")


def seed(config: pytest.Config) -> int | None:
    """Return the seed of the last run that failed, if its failures are to run again."""
    cache, option = _cache(config), config.option
    if cache is None or not any(getattr(option, name, False) for name in _OPTIONS):
        return None
    kept = cache.get(_KEY, None)
    return kept if type(kept) is int and 0 < kept < 2**31 else None


def keep(config: pytest.Config, failed: Iterable[str] = ()) -> None:
    """Keep the seed of a run that failed, and failures of tests that ended their process."""
    cache = _cache(config)
    if cache is None or hasattr(config, "workerinput"):
        return
    cache.set(_KEY, config.option.fictl_seed)
    known = cache.get(_FAILED, {})
    cache.set(_FAILED, {**known, **dict.fromkeys(failed, True)})


def search_all_files(config: pytest.Config) -> None:
    """Let pytest look for failed tests also in files outside of its root, as the generated tests'."""
    if config.pluginmanager.has_plugin(_BY_FILE):
        config.pluginmanager.unregister(name=_BY_FILE)


def _cache(config: pytest.Config) -> Any:
    return getattr(config, "cache", None)
