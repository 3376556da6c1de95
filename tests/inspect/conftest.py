"""Kernels that nobody compiled, and what the tools print."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fictl.inspect.instruction import SourcePlace
from fictl.inspect.kernel import InspectedKernel, Opcode

PLANTED = Path(__file__).parents[1] / "planted_project"


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the project of planted faults, the working folder."""
    root = shutil.copytree(PLANTED, tmp_path / "planted")
    monkeypatch.chdir(root)
    yield root
    for name in [name for name in sys.modules if name.split(".")[0] == "planted"]:
        del sys.modules[name]


@pytest.fixture
def recorded() -> Path:
    """What the tools have printed."""
    return Path(__file__).with_name("recorded")


@pytest.fixture
def kernel() -> Callable[..., InspectedKernel]:
    """One that nobody compiled."""

    def make(**changes: Any) -> InspectedKernel:
        facts: dict[str, Any] = {
            "mangled": "_ZN1a4copyEPf",
            "arch": "9.0a",
            "unit": "launcher.cu",
            "registers": 40,
            "shared": 256,
            "local": 0,
            "spill_stores": 0,
            "spill_loads": 0,
            "barriers": 1,
            "threads": 256,
            "place": SourcePlace("a.cuh", 7),
            "code": "c0de",
            "opcodes": {
                "LDG.E.128": Opcode(4, "LDG.E.128 R4, [R2]", SourcePlace("a.cuh", 9)),
                "IADD3": Opcode(2, "IADD3 R1, R1, R2", None),
            },
        }
        return InspectedKernel(**{**facts, **changes})

    return make
