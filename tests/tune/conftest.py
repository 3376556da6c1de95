"""An op of four tactics in torch, and a stopwatch that shows what a test wants."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest
import torch

from fictl import log
from fictl.op import op
from fictl.op.tactics import recorded
from fictl.op.tactics.tactics import Untuned
from fictl.timing.samples import Samples
from fictl.timing.side import Side
from fictl.trace import Const, Tensor, TraceTemplate, Var

TESTS = Path(__file__).parents[1]
TRACE = TraceTemplate(
    axes={"n": Var("rows"), "d": Const("head")},
    inputs={"q": Tensor(("n", "d"))},
    outputs={"out": Tensor(("n", "d"), dtype_from="q")},
    reference=lambda q: 2 * q,
)
# Seconds of the four, without noise.
ALIKE = (1e-5, 1e-5, 1e-5, 1e-5)


class Split(NamedTuple):
    parts: int


def splits() -> Iterator[Split]:
    return map(Split, (1, 2, 4, 8))


def double(q: torch.Tensor, out: torch.Tensor | None = None, tactic: Any = None) -> torch.Tensor:
    if out is None:
        out = torch.empty_like(q)
    return torch.mul(q, 2, out=out)


@pytest.fixture(autouse=True)
def emulated(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("FICTL_DEVICE", "emu")
    recorded.forget()
    log.warn_once.cache_clear()
    yield
    recorded.forget()


@dataclass
class Stopwatch:
    """In place of measure(): makes and makes calls as it does, and shows `seconds` by candidate.

    Of several, those of the first measurement, the second …; `noise` is relative.
    """

    seconds: Sequence[Sequence[float]] = (ALIKE,)
    noise: float = 0.0
    random: Random = field(default_factory=lambda: Random(0))
    asked: list[list[int]] = field(default_factory=list)

    def __call__(self, sides: Mapping[str, Side], device: str) -> dict[str, Samples]:
        assert device == "cpu"
        for side in sides.values():
            for call in [side.make(copy) for copy in range(2)]:
                call()
        self.asked.append([int(name) for name in sides])
        shown = self.seconds[min(len(self.asked), len(self.seconds)) - 1]
        return {name: self._samples(shown[int(name)]) for name in sides}

    def _samples(self, seconds: float) -> Samples:
        noisy = [seconds * (1 + self.noise * self.random.gauss(0, 1)) for _ in range(40)]
        return Samples(tuple(noisy), "host", cold=False, copies=2)


@pytest.fixture
def stopwatch() -> type[Stopwatch]:
    return Stopwatch


@pytest.fixture
def split() -> type[Split]:
    return Split


@pytest.fixture
def declared() -> Callable[..., Any]:
    """The op anew, with nothing tuned."""

    def declare(function: Callable[..., Any] = double, **said: Any) -> Any:
        words = {"archs": ">=7.5", "dtypes": "f32", "mutates": "out", "trace": TRACE, **said}
        return op(**{"tactics": splits, **words})(function)

    return declare


@pytest.fixture
def untuned() -> Callable[..., Untuned]:
    """The call of an op with these arguments, as its tuner is given it."""

    def make(function: Any, **arguments: Any) -> Untuned:
        tactics = function.tactics
        found: Untuned = tactics.untuned_call({**tactics.defaults, **arguments})
        return found

    return make


@pytest.fixture
def tuned_project(tiny: Path) -> Path:
    """tiny_project, whose op is in torch and has tactics; the working folder."""
    shutil.copytree(TESTS / "tuned_project", tiny, dirs_exist_ok=True)
    return tiny
