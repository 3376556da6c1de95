"""Bare pytest in a fictl project: where ops run, with which seed, said in one line each."""

from __future__ import annotations

import pytest

from fictl import settings
from fictl.errors import SetupError
from fictl.testing.hooks import last_failed

_OTHER = f"{settings.DEVICE.name}=cuda"


class BareRun:
    """Pytest plugin for runs that `fictl test` did not start; `words` say on which device ops run."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._words = emulate_without_gpu()

    def pytest_report_collectionfinish(self) -> list[str]:
        return [self._words] if self._words else []

    @pytest.hookimpl(trylast=True)  # After pytest has kept its own.
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if session.testsfailed:
            last_failed.keep(self._config)

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if any(terminalreporter.stats.get(kind) for kind in ("failed", "error")):
            seed = self._config.option.fictl_seed
            terminalreporter.write_line(f"fictl: the same inputs again: --fictl-seed={seed}")


def emulate_without_gpu() -> str:
    """Choose the emulated device if there is no GPU and nobody chose; a line about it, or ''.

    Child processes, such as workers of pytest-xdist, get the choice with their environment.
    """
    from fictl.emu.toolchain import require_toolchain
    from fictl.testing.device import choose_device, is_asked_for
    from fictl.toolchain import visible_gpus

    if is_asked_for() or visible_gpus():
        return ""
    if choose_device() == "emu":
        settings.DEVICE.set_by_flag("pytest without a GPU", "emu", for_children=True)
        return f"fictl: no GPU here, so ops run on the emulated device; {_OTHER} skips them"
    try:
        require_toolchain()
    except SetupError as error:
        return " ".join(f"fictl: ops are skipped: no GPU here, and {error}".split())
    return ""
