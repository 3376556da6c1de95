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


def beside(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / f"{name}.py").write_text(text)


def reference(tmp_path: Path, text: str) -> Callable[..., Any]:
    """Make the function `reference` of a trace.py with files beside it."""
    path = tmp_path / "trace.py"
    path.write_text(text)
    namespace: dict[str, Any] = {}
    loose = text.replace("from .", "# from .")
    exec(compile(loose, path, "exec"), namespace)
    return namespace["reference"]


def test_what_is_imported_from_a_file_beside_it_comes_along(tmp_path: Path) -> None:
    beside(
        tmp_path,
        "sums",
        "import math\nfrom .parts import half\n\n\ndef root(x):\n    return math.sqrt(half(x))\n",
    )
    beside(tmp_path, "parts", "def half(x):\n    return x / 2\n\n\ndef unused(x):\n    return x\n")
    function = reference(
        tmp_path, "from .sums import root, other\n\n\ndef reference(x):\n    return root(x) + 1\n"
    )
    source = standalone(function)
    assert run(source.text, source.name)(8.0) == 3.0
    assert source.text.startswith("import math\n")
    assert "unused" not in source.text


@pytest.mark.parametrize(
    ("imported", "text", "said"),
    [
        ("from .sums import root as r", "def root(x): ...", "uses 'from .sums import root as r'"),
        ("from .absent import root", "", "uses 'from .absent import root'"),
        ("from ..sums import root", "", "uses 'from ..sums import root'"),
        ("from .sums import root", "def other(x): ...", "sums.py does not define"),
        (
            "from .sums import root",
            "from .trace import reference\ndef root(x): return reference(x)",
            "from .trace",
        ),
        ("from .sums import root", "HALF = 3\ndef root(x): return HALF", "uses HALF of"),
    ],
)
def test_what_cannot_come_along_is_refused(
    tmp_path: Path, imported: str, text: str, said: str
) -> None:
    beside(tmp_path, "sums", text + "\n")
    name = imported.rsplit(maxsplit=1)[-1]
    function = reference(
        tmp_path, f"{imported}\nHALF = 2\n\n\ndef reference(x):\n    return {name}(x) * HALF\n"
    )
    with pytest.raises(UsageError, match=said):
        standalone(function)


def test_a_parameter_is_not_what_the_file_calls_by_its_name(tmp_path: Path) -> None:
    function = reference(tmp_path, "def reference(top):\n    return top\n")
    (tmp_path / "trace.py").write_text(
        "def reference(top):\n    return top\n\n\nfrom . import absent\n\ntop = absent.x\n"
    )
    source = standalone(function)
    assert "absent" not in source.text


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
