from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import fictl.bench
from fictl.bench.worker.inductor import compiled


@pytest.fixture
def compiles(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    made: list[str] = []

    def compile(function: Callable[..., Any], dynamic: bool) -> Callable[..., Any]:
        made.append("dynamic" if dynamic else "static")
        return function

    monkeypatch.setattr(torch, "compile", compile)
    return made


def test_copies_of_one_case_are_compiled_once(compiles: list[str]) -> None:
    prepare = compiled(lambda x, factor: x * factor)
    calls = [prepare(x=torch.full((2,), float(i)), factor=3.0) for i in range(3)]
    assert [call()[0].item() for call in calls] == [0.0, 3.0, 6.0]
    assert compiles == ["static"]


def test_another_size_or_scalar_is_compiled_anew(compiles: list[str]) -> None:
    prepare = compiled(lambda x, factor: x * factor)
    for size, factor in ((2, 3.0), (4, 3.0), (4, 5.0)):
        prepare(x=torch.ones(size), factor=factor)
    assert len(compiles) == 3


def test_a_bench_imports_it_from_the_package() -> None:
    assert fictl.bench.compiled is compiled
