"""Sessions of the real debuggers on the project of planted faults."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fictl import settings
from fictl.case.options import CaseOptions
from fictl.debug.debugger import find_debugger
from fictl.debug.session import DebugProgram, DebugSession
from fictl.debug.start import DebugRequest, session
from fictl.errors import SetupError
from fictl.jit.progress import LogObserver
from fictl.project import OpFolder

PLANTED = Path(__file__).resolve().parents[1] / "planted_project"


@pytest.fixture
def debugging(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, users_cache: None
) -> Iterator[Callable[..., DebugSession]]:
    """Of one function, on a device; skipped where its debugger cannot."""
    root = shutil.copytree(PLANTED, tmp_path / "planted")
    monkeypatch.chdir(root)

    def start(device: str, function: str, **asked) -> DebugSession:
        try:
            find_debugger(device).checked()
        except SetupError as problem:
            pytest.skip(problem.message)
        settings.DEVICE.set_by_flag("--device", device)
        folder = OpFolder.of(root / "kernels" / "planted" / "faults" / "op.py")
        case = DebugProgram.of_case(folder, [function], CaseOptions())
        return session(DebugRequest(case, **asked), LogObserver())

    yield start
    for name in [name for name in sys.modules if name.split(".")[0] == "planted"]:
        del sys.modules[name]
