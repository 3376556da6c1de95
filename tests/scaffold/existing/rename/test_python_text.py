from __future__ import annotations

from dataclasses import replace

import pytest

from fictl.scaffold.existing.rename.python_text import PythonNames
from fictl.scaffold.existing.rename.renaming import Renaming


@pytest.fixture
def names(twice) -> PythonNames:
    renaming = Renaming(twice, replace(twice, module="thrice"))
    return PythonNames(renaming, (twice.op, twice.trace, twice.test), frozenset({"TwiceShape"}))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def twice(): ...", "def thrice(): ..."),
        ("class Twice: ...", "class Thrice: ..."),
        ("TWICE = 2", "THRICE = 2"),
        ("kernel = KernelModule(m)\nkernel.twice(1)", "kernel = KernelModule(m)\nkernel.thrice(1)"),
        (
            "kernel = KernelModule(m)\nkernel[1].twice()",
            "kernel = KernelModule(m)\nkernel[1].thrice()",
        ),
        ("torch.twice(x)", "torch.twice(x)"),
        ("import tiny.ops\ntiny.ops.twice(1)", "import tiny.ops\ntiny.ops.thrice(1)"),
        ("fictl.ops.twice(1)", "fictl.ops.twice(1)"),
        ("from . import trace\ntrace.twice", "from . import trace\ntrace.thrice"),
        (
            "import tiny.elementwise.twice.op as o\no.twice",
            "import tiny.elementwise.thrice.op as o\no.thrice",
        ),
        ("from .trace import twice", "from .trace import thrice"),
        ("Case('twice', 1)", "Case('thrice', 1)"),
        ('"""twice: as torch.twice. Twice."""', '"""thrice: as torch.twice. Thrice."""'),
        ("# TwiceShape of twice.cuh", "# ThriceShape of thrice.cuh"),
        ("match=r'twice: .*'", "match=r'thrice: .*'"),
        ("äöü = twice", "äöü = thrice"),
        ("test_twice_of_nothing = 1", "test_twice_of_nothing = 1"),
    ],
)
def test_each_way_to_name_the_op_in_python(names, text: str, expected: str) -> None:
    assert names.rename(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "def f(twice):\n    return twice",
        "def f():\n    twice = 1\n    return twice",
        "f(twice=1)",
        "from torch import twice\ntwice(1)",
        "x = lambda twice: twice",
    ],
)
def test_what_only_has_the_same_name_keeps_it(names, text: str) -> None:
    assert names.rename(text) == text


def test_what_the_ops_files_define_is_renamed_with_it(names, twice) -> None:
    twice.test.write_text("def test_twice_of_nothing(): ...\n")
    assert names.rename("def test_twice_of_nothing(): ...") == "def test_thrice_of_nothing(): ..."


def test_a_user_follows_in_code_and_keeps_its_prose(names, used) -> None:
    user = used.path.with_name("sum_twice") / "op.py"
    text = names.rename_outside(user.read_text())
    assert text.splitlines() == [
        '"""sum_twice: adds up what twice makes."""',
        "",
        "from fictl.op import KernelModule, op",
        "from tiny.ops import thrice",
        "",
        "from ..thrice.op import thrice as again",
        "from .jit import module",
        "",
        "kernel = KernelModule(module)",
        "",
        "",
        '@op(archs=">=8.0", dtypes="i32", devices="cuda emu", mutates="", uses="thrice")',
        "def sum_twice(input: int, twice_as_often: int = 1) -> int:",
        '    """twice(input) + twice(input)."""',
        "    return int(kernel.sum_twice(thrice(input), again(input, twice=2), twice_as_often))",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from tiny.elementwise.twice.op import twice", True),
        ("from ..twice.op import twice", True),
        ("from tiny.ops import (\n    other,\n    twice,\n)", True),
        ("tiny.ops.twice(1)", True),
        ('@op(uses="other twice")', True),
        ("twice = 2", False),
        ('"twice"', False),
    ],
)
def test_who_uses_the_op(names, text: str, expected: bool) -> None:
    assert names.is_used_by(text) is expected


def test_in_another_family_relative_imports_lead_where_they_led(twice) -> None:
    names = PythonNames(Renaming(twice, replace(twice, family="math")), (), frozenset())
    assert names.rename("from ..other.op import x") == "from ...elementwise.other.op import x"
    assert names.rename_outside("from ..twice.op import twice") == (
        "from ...math.twice.op import twice"
    )


def test_a_new_name_that_means_something_already_is_known(twice) -> None:
    twice.bench.write_text("def cases():\n    thrice = 3\n    yield thrice\n")
    names = PythonNames(
        Renaming(twice, replace(twice, module="thrice")), (twice.op, twice.bench), frozenset()
    )
    assert names.clashes() == {"thrice"}
