from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fictl.errors import UsageError
from fictl.trace.source import standalone

FILE = """from __future__ import annotations

import math
import os
from fractions import Fraction

HALF, UNUSED = Fraction(1, 2), os.sep


def unused(x: int) -> int:
    return x


def _root(x: float) -> float:
    # Says why.
    return math.sqrt(x) * _half()


def _half() -> float:
    return float(HALF)


def reference(x: float) -> float:
    return _root(x)


from pathlib import Path as _Place  # noqa: E402
from . import elsewhere  # noqa: E402


def far(x):
    return elsewhere.thing(x)


doubled = lambda x: 2 * _half() * x
pair = (lambda x: x, lambda x: -x)


def maker(n):
    def inner(x):
        return n * x
    return inner


made = maker(2)
"""


@pytest.fixture
def module(tmp_path: Path) -> dict[str, Any]:
    path = tmp_path / "trace.py"
    path.write_text(FILE.replace("from . import elsewhere", "import fractions as elsewhere"))
    names = runpy.run_path(str(path))
    path.write_text(FILE)
    return names


def run(text: str, name: str) -> Callable[..., Any]:
    namespace: dict[str, Any] = {}
    exec(text, namespace)
    return namespace[name]


def test_it_takes_what_it_uses_along_and_nothing_else(module: dict[str, Any]) -> None:
    source = standalone(module["reference"])
    assert run(source.text, source.name)(16.0) == 2.0
    assert "# Says why." in source.text
    assert "unused" not in source.text
    assert "_Place" not in source.text


def test_a_lambda_gets_a_name(module: dict[str, Any]) -> None:
    source = standalone(module["doubled"])
    assert run(source.text, "_reference")(21) == 21.0


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("far", "uses 'from . import elsewhere'"),
        ("made", "uses n of the enclosing function"),
    ],
)
def test_what_cannot_stand_alone_is_refused_with_its_place(
    module: dict[str, Any], name: str, said: str
) -> None:
    with pytest.raises(UsageError, match=rf"trace.py:\d+: .*{said}"):
        standalone(module[name])


def test_one_of_two_lambdas_on_a_line_is_refused(module: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="is one of 2 on its line"):
        standalone(module["pair"][0])


def test_what_is_written_in_c_is_refused() -> None:
    with pytest.raises(UsageError, match="has no source"):
        standalone(abs)
