"""Origin of a finding: the device, and the command that shows it again."""

from __future__ import annotations

import re
import shlex
from typing import Any

from fictl.project import OpFolder


def add_origin(row: dict[str, Any], folder: OpFolder, device: str, name: str = "") -> None:
    """Add `device`, the name of a GPU or `emulated`, and the command that repeats the test."""
    row["device"] = name or ("emulated" if device == "emu" else device)
    row["repeat"] = repeat_command(row, folder, device)


def repeat_command(row: dict[str, Any], folder: OpFolder, device: str) -> str:
    """Spell the command that checks only the test of a row: its inputs have the same seed."""
    tool = ["--tool", row["tool"]] if row.get("tool") and device == "cuda" else []
    words = ["fictl", "sanitize", str(folder), "--device", device, *tool]
    return shlex.join([*words, *_test(row.get("test", ""), folder)])


def _test(test: str, folder: OpFolder) -> list[str]:
    """Select one test: a generated one by its case, another by its name."""
    names = "|".join(re.escape(declared.name) for declared in folder.declarations())
    case = re.search(rf"[\[-]((?:{names})-[^\]]*,seed=\d+)", test) if names else None
    if case:
        return ["--case", case[1]]
    name = test.rpartition("::")[2].partition("[")[0]
    return ["-k", name] if name.isidentifier() else []
