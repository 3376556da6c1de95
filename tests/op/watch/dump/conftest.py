"""A call that needs no kernel, and what writes it to a folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from fictl.arch import ArchRule
from fictl.op import Op
from fictl.op.watch.dump.limits import Limits
from fictl.op.watch.dump.writer import DumpWriter
from fictl.op.watch.observed import observed


def halve(input: Any, out: Any = None, **more: Any) -> Any:
    if more.get("fail"):
        raise ValueError("as asked")
    out = torch.empty_like(input) if out is None else out
    return out.copy_(input / 2)


@pytest.fixture
def op() -> Op:
    return Op("halve", ArchRule.parse(">=8.0"), (), ("emu",), ("out",), module="toy.few.halve.op")


@pytest.fixture
def dumped(tmp_path: Path, op: Op) -> Callable[..., Any]:
    """`halve`, or another function, whose calls are dumped to tmp_path / "dumps"."""

    def make(function: Any = halve, limits: Limits | None = None, **options: Any) -> Any:
        writer = DumpWriter(tmp_path / "dumps", limits or Limits(10, 1e9), **options)
        return observed(function, op, [writer])

    return make


@pytest.fixture
def dumps(tmp_path: Path) -> Callable[[], list[Path]]:
    """The folders there are, in the order of their calls."""
    return lambda: sorted((tmp_path / "dumps").glob("*"), key=lambda each: each.name[-4:])


@pytest.fixture
def warned(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was said, each text once as users see it."""
    said: list[str] = []

    def once(text: str) -> None:
        if text not in said:
            said.append(text)

    monkeypatch.setattr("fictl.op.watch.dump.writer.warn_once", once)
    monkeypatch.setattr("fictl.op.watch.dump.limits.warn_once", once)
    return said
