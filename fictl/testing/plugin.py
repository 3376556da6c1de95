"""The pytest plugin: gates by compiler, GPU and architecture, and parameters for the contract.

It costs a project that is not fictl's nothing but this file's imports.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fictl import settings
from fictl.errors import NotOnDevice
from fictl.testing import schedules
from fictl.testing.schedules import device

if TYPE_CHECKING:
    from fictl.testing.suite import OpSuite

__all__ = ["device"]

_MARKERS = (
    "needs_gpu: runs on a CUDA device",
    "needs_nvcc: compiles CUDA code",
    "arch(rule): runs on GPUs that the rule admits, as in arch('9.0a') or arch('>=8.0')",
)
_SUITES = pytest.StashKey["list[OpSuite]"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("fictl")
    group.addoption("--fictl-op", action="append", default=[], help="op that the contract tests")
    group.addoption("--fictl-report", help="write outcome counts and skip reasons to this file")
    group.addoption("--fictl-defects", help="append what kernels report to this file, one a line")
    schedules.add_option(group)


def pytest_configure(config: pytest.Config) -> None:
    for marker in _MARKERS:
        config.addinivalue_line("markers", marker)
    schedules.configure(config)
    if config.getoption("--fictl-defects"):
        from fictl.testing.defects import Defects

        config.pluginmanager.register(Defects(Path(config.getoption("--fictl-defects"))))
    if _says_fictl(config.rootpath / "fictl.toml") or _says_fictl(
        config.rootpath / "pyproject.toml"
    ):
        from fictl.project import Project, mount

        mount(Project.at(config.rootpath))


def _says_fictl(path: Path) -> bool:
    """Whether a project of fictl's may lie here; `import my_kernels` then works in its tests."""
    if not path.is_file():
        return False
    return path.name == "fictl.toml" or "[tool.fictl]" in path.read_text(encoding="utf-8")


def pytest_itemcollected(item: pytest.Item) -> None:
    """A test whose tensors go to a GPU needs one; `-m needs_gpu` finds it."""
    if schedules.takes_device(item) and not _is_emulated():
        item.add_marker("needs_gpu")


def running_file(report: Path) -> Path:
    """Where the name of the test that runs stands, for who finds no report."""
    return report.with_suffix(".running")


def pytest_runtest_setup(item: pytest.Item) -> None:
    report = item.config.getoption("--fictl-report")
    if report:
        running_file(Path(report)).write_text(item.nodeid, encoding="utf-8")
    reason = _missing(item)
    if reason:
        pytest.skip(reason)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, None]:
    """An op that is not for the device is no failure of its tests."""
    outcome = yield
    error = outcome.excinfo[1] if outcome.excinfo else None
    if isinstance(error, NotOnDevice):
        skipped = pytest.skip.Exception(error.message, _use_item_location=True)
        outcome.force_exception(skipped)


def _missing(item: pytest.Item) -> str:
    if item.get_closest_marker("needs_nvcc"):
        from fictl.toolchain import find_nvcc

        if find_nvcc() is None:
            return "needs nvcc: none was found"
    needs_gpu = item.get_closest_marker("needs_gpu")
    if needs_gpu and _is_emulated():
        return "needs a GPU"
    arch = item.get_closest_marker("arch")
    if arch or needs_gpu:
        return _missing_arch(arch.args[0] if arch else "")
    return ""


def _missing_arch(rule: str) -> str:
    from fictl.arch import ArchRule, spell
    from fictl.testing.device import available_archs

    archs = available_archs()
    if not archs:
        return "needs a GPU"
    if rule and not any(ArchRule.parse(rule).supports(arch) for arch in archs):
        which = "the emulated device" if settings.DEVICE.get() == "emu" else "the GPU"
        return f"needs {rule}, {which} is {spell(archs)}"
    return ""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    schedules.parametrize(metafunc)
    wanted = {"fictl_suite", "fictl_spec", "fictl_arch", "fictl_case"} & set(metafunc.fixturenames)
    if wanted:
        rows = list(_rows(_suites(metafunc.config), wanted))
        names = sorted(wanted)
        metafunc.parametrize(
            names, [[row[name] for name in names] for row in rows], ids=[_id(row) for row in rows]
        )


def _rows(suites: list[OpSuite], wanted: set[str]) -> list[dict[str, Any]]:
    """What to call each contract test with: a suite, and its cases or its specs by architecture."""
    from fictl.arch import parse_archs

    rows: list[dict[str, Any]] = []
    for suite in suites:
        if "fictl_case" in wanted:
            rows += [{"fictl_suite": suite, "fictl_case": case} for case in suite.cases]
        else:
            rows += [
                {"fictl_suite": suite, "fictl_spec": spec, "fictl_arch": arch}
                for spec in suite.specs
                for arch in parse_archs(spec.fallback_archs)
            ]
    return rows


def _id(row: dict[str, Any]) -> str:
    if "fictl_case" in row:
        return str(row["fictl_case"])
    return f"{row['fictl_spec'].name}-{row['fictl_arch']}"


def _suites(config: pytest.Config) -> list[OpSuite]:
    if _SUITES not in config.stash:
        from fictl.project import find
        from fictl.testing.suite import OpSuite

        folders = [folder for name in config.getoption("--fictl-op") for folder in find(name)]
        config.stash[_SUITES] = [OpSuite(folder) for folder in dict.fromkeys(folders)]
    return config.stash[_SUITES]


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    path = config.getoption("--fictl-report")
    if not path:
        return
    stats = terminalreporter.stats
    reasons = Counter(report.longrepr[2] for report in stats.get("skipped", []))
    failed = stats.get("failed", []) + stats.get("error", [])
    summary = {
        "passed": len(stats.get("passed", [])),
        "failed": [_name(report) for report in failed],
        "skipped": {reason.removeprefix("Skipped: "): n for reason, n in reasons.items()},
        "device": settings.DEVICE.get(),
        "schedules": [*map(str, schedules.schedules(config))] if _is_emulated() else [],
    }
    Path(path).write_text(json.dumps(summary), encoding="utf-8")


def _is_emulated() -> bool:
    return settings.DEVICE.get() == "emu"


def _name(report: Any) -> str:
    """A test's id; pytest leaves the file out where it lies outside of the root folder."""
    identity: str = report.nodeid
    return report.location[0] + identity if identity.startswith("::") else identity
