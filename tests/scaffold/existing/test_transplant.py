from __future__ import annotations

from pathlib import Path

import pytest

from fictl.errors import UsageError
from fictl.project import OpFolder, Project
from fictl.scaffold.existing.transplant import Transplant

_SHIPPED = Project.shipped()


@pytest.fixture
def move(tmp_path: Path) -> Transplant:
    """An op `norm/some` of fictl's, to a project `mine`."""
    op = OpFolder(_SHIPPED, "norm", "some")
    return Transplant(_SHIPPED, tmp_path, "mine", (op,), (op.header, op.op, op.test))


@pytest.mark.parametrize(
    ("path", "place"),
    [
        (_SHIPPED.include / "fictl/norm/some.cuh", "kernels/include/mine/norm/some.cuh"),
        (_SHIPPED.kernels / "norm/some/op.py", "kernels/norm/some/op.py"),
        (_SHIPPED.tests / "norm/test_some.py", "tests/kernels/norm/test_some.py"),
    ],
)
def test_each_file_has_its_place(move, tmp_path: Path, path: Path, place: str) -> None:
    assert move.place(path) == tmp_path / place


def test_a_file_from_elsewhere_has_none(move, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not in a folder of fictl"):
        move.place(tmp_path / "x.cuh")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#include <fictl/norm/some.cuh>\n", "#include <mine/norm/some.cuh>\n"),
        ("#include <fictl/device/vec.cuh>\n", "#include <fictl/device/vec.cuh>\n"),
        ("fictl::norm::f(fictl::raise());\n", "mine::norm::f(fictl::raise());\n"),
        (
            "namespace fictl::norm {\nvoid f();\n}\n",
            "namespace mine::norm {\nusing namespace fictl;\nvoid f();\n}  // namespace mine::norm\n",
        ),
        (
            "namespace fictl::norm {\n\nvoid f() {\n}\n\n}  // namespace fictl::norm\n",
            "namespace mine::norm {\n\nusing namespace fictl;\n\nvoid f() {\n}\n\n"
            "}  // namespace mine::norm\n",
        ),
    ],
)
def test_cpp_is_of_the_new_project_and_uses_fictl(move, text: str, expected: str) -> None:
    assert move.text(_SHIPPED.kernels / "norm/some/launcher.cu", text) == expected


def test_a_header_needs_the_building_blocks_only(move) -> None:
    text = "namespace fictl::norm {\n\nint x;\n"
    assert move.text(_SHIPPED.include / "fictl/norm/some.cuh", text) == (
        "namespace mine::norm {\n\nnamespace device = fictl::device;\n\nint x;\n"
    )


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        ("op.py", "from .jit import module\n", "from .jit import module\n"),
        ("op.py", "from .._rows import x\n", "from .._rows import x\n"),
        ("op.py", "from ..more.op import x\n", "from fictl.kernels.norm.more.op import x\n"),
        ("op.py", "from ...a.b.op import x\n", "from fictl.kernels.a.b.op import x\n"),
        ("op.py", "from fictl.ops import x\n", "from fictl.ops import x\n"),
        ("op.py", "from fictl.op import op\n", "from fictl.op import op\n"),
    ],
)
def test_what_an_op_imports_of_other_ops_it_has_from_fictl(
    move, file: str, text: str, expected: str
) -> None:
    assert move.text(_SHIPPED.kernels / "norm/some" / file, text) == expected


def test_its_test_calls_it_where_it_is(move) -> None:
    text = "import fictl.ops\nfrom fictl.kernels.norm.some.op import some\nfictl.ops.some(1)\n"
    assert move.text(_SHIPPED.tests / "norm/test_some.py", text) == (
        "import mine.ops\nfrom mine.norm.some.op import some\nmine.ops.some(1)\n"
    )
