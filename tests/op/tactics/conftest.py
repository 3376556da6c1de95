"""An op of four tactics, which answers with the one that it got."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

from fictl.op import op
from fictl.op.tactics import recorded
from fictl.trace import Const, Tensor, TraceTemplate, Var

TRACE = TraceTemplate(
    axes={"n": Var("rows"), "d": Const("head")},
    inputs={"q": Tensor(("n", "d"))},
    outputs={"out": Tensor(("n", "d"), dtype_from="q")},
    reference=lambda q: q,
)


class Split(NamedTuple):
    parts: int


def splits() -> Iterator[Split]:
    return map(Split, (1, 2, 4, 8))


def attend(q: Any, scale: float = 1.0, out: Any = None, tactic: Any = None) -> Any:
    return tactic


@pytest.fixture(autouse=True)
def emulated(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("FICTL_DEVICE", "emu")
    recorded.forget()
    yield
    recorded.forget()


@pytest.fixture
def declared() -> Callable[..., Any]:
    """The op anew, with nothing tuned."""

    def declare(**said: Any) -> Any:
        words = {"archs": ">=7.5", "dtypes": "f32", "mutates": "out", "trace": TRACE, **said}
        return op(**{"tactics": splits, **words})(attend)

    return declare


@pytest.fixture
def split() -> type[Split]:
    return Split
