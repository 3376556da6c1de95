"""ops.pyi: what editors and type checkers see of a facade."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fictl.errors import UsageError
from fictl.project import Project
from fictl.project.facade_stub import stub, write_shipped_stub

ROOT = Path(__file__).parents[2]

OP = '''\
"""One op."""

from __future__ import annotations

import collections.abc
from collections import OrderedDict as Ordered
from typing import Literal

import torch

from fictl.op import KernelModule, op

from .jit import module
from .layouts import Layout

kernel = KernelModule(module)
Sizes = dict[str, int]


def _unseen(x: torch.Tensor) -> None: ...


@op(archs=">=8.0", dtypes="f16", devices="cuda emu", mutates="out")
def halve(
    input: torch.Tensor,
    /,
    layout: Layout,
    *shape: int,
    sizes: Sizes,
    kind: Literal['even', 'odd'] = "even",
    limit: float = 2.0 * 3,
    rows: collections.abc.Sequence[int] = (),
    out: Ordered[str, int] | None = None,
    **more: object,
) -> torch.Tensor:
    r"""Half of it \\ rounded.

    input: any.
    """
    return input


class Sum:
    width: int = 4
    _hidden: str = ""

    def __init__(self, room: int = -1) -> None:
        self.room = room

    @property
    def size(self) -> int:
        return 1

    def plan(self, indptr: torch.Tensor) -> None:
        """Plan."""

    @op(archs=">=8.0", dtypes="f16", devices="cuda emu", mutates="")
    def run(self, input: torch.Tensor) -> Sum:
        """Run."""
        return self

    def _private(self) -> None: ...
'''


@pytest.fixture
def text(tree) -> str:
    (tree.project.kernels / "elementwise" / "halve" / "op.py").write_text(OP)
    return stub(tree.project)


def test_the_stub_of_the_shipped_ops_is_written_where_it_differs(tmp_path: Path) -> None:
    path = tmp_path / "ops.pyi"
    assert write_shipped_stub(tmp_path) == path
    assert path.read_text() == stub(Project.shipped())
    assert write_shipped_stub(tmp_path) is None
    path.write_text("old")
    assert write_shipped_stub(tmp_path) == path


def test_a_signature_is_kept_whole_and_a_default_that_computes_is_left_out(text: str) -> None:
    assert (
        '''\
def halve(
    input: torch.Tensor,
    /,
    layout: Layout,
    *shape: int,
    sizes: Sizes,
    kind: Literal["even", "odd"] = "even",
    limit: float = ...,
    rows: collections.abc.Sequence[int] = ...,
    out: Ordered[str, int] | None = None,
    **more: object,
) -> torch.Tensor:
    r"""Half of it \\ rounded.

    input: any.
    """
'''
        in text
    )


def test_a_class_has_its_public_methods_and_attributes(text: str) -> None:
    assert (
        '''\
class Sum:
    width: int
    def __init__(self, room: int = -1) -> None: ...
    @property
    def size(self) -> int: ...
    def plan(self, indptr: torch.Tensor) -> None:
        """Plan."""

    def run(self, input: torch.Tensor) -> Sum:
        """Run."""

'''
        in text
    )
    assert "_hidden" not in text
    assert "_private" not in text


def test_names_in_signatures_are_imported_from_where_the_op_has_them(text: str) -> None:
    imports = [line for line in text.split("\n") if line.startswith(("import", "from"))]
    unseen = "  # type: ignore[import-not-found, unused-ignore]"
    assert imports == [
        "from collections import OrderedDict as Ordered",
        f"from my_kernels.elementwise.halve.layouts import Layout{unseen}",
        f"from my_kernels.elementwise.halve.op import Sizes{unseen}",
        "from typing import Literal",
        "import collections.abc",
        "import torch",
    ]


@pytest.mark.parametrize("doc", ['Says "so"', 'Three """ in it.', "Ends in \\", r"A \n is raw."])
def test_a_docstring_says_what_it_said(tree, doc: str) -> None:
    path = tree.project.kernels / "elementwise" / "halve" / "op.py"
    declared = '@op(archs=">=8.0", dtypes="f16", mutates="")\ndef halve(x: int) -> None:\n'
    path.write_text(f"{declared}    {doc!r}\n")
    function = ast.parse(stub(tree.project)).body[-1]
    assert isinstance(function, ast.FunctionDef)
    assert ast.get_docstring(function) == doc


def test_what_is_no_op_is_not_shown(text: str) -> None:
    assert "_unseen" not in text
    assert "kernel" not in text.replace("my_kernels", "")


def test_a_name_that_two_ops_mean_differently_is_refused(tree) -> None:
    tree.op("elementwise", "twice")
    for name in ("halve", "twice"):
        path = tree.project.kernels / "elementwise" / name / "op.py"
        path.write_text(
            f"from a.{name} import Layout\n"
            '@op(archs=">=8.0", dtypes="f16", mutates="")\n'
            f"def {name}(x: Layout) -> None: ...\n"
        )
    with pytest.raises(UsageError, match=r"twice/op.py: Layout is of `from a.twice import Layout`"):
        stub(tree.project)


def test_it_is_as_the_formatter_and_the_linter_want_it(text: str, tmp_path: Path) -> None:
    ruff = shutil.which("ruff") or shutil.which("ruff", path=str(Path(sys.executable).parent))
    if ruff is None:
        pytest.skip("needs ruff")
    path = tmp_path / "ops.pyi"
    path.write_text(text)
    settings = ["--config", str(ROOT / "pyproject.toml"), "--no-cache"]
    for command in (["format", "--diff"], ["check"]):
        done = subprocess.run([ruff, *command, *settings, path], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout


def test_mypy_knows_the_ops_by_their_types(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    write_shipped_stub()
    program = tmp_path / "program.py"
    program.write_text(
        "import fictl\n"
        "import torch\n"
        "reveal_type(fictl.ops.scale(torch.ones(4), 2.0))\n"
        "fictl.ops.scale(torch.ones(4), factor='2')\n"
        "fictl.ops.scael(torch.ones(4), 2.0)\n"
    )
    # Why not the real torch: to read all of it takes a minute.
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.pyi").write_text(
        "class dtype: ...\nclass device: ...\nclass Tensor: ...\nclass Generator: ...\n"
        "def ones(*n: int) -> Tensor: ...\n"
    )
    # And so with what the package itself is made of.
    (tmp_path / "mypy.ini").write_text(
        "[mypy]\nfollow_imports = silent\n"
        + "".join(f"[mypy-fictl.{name}.*]\nfollow_imports = skip\n" for name in ("op", "tune"))
    )
    said = subprocess.run(
        [
            sys.executable,
            "-m",
            "mypy",
            "--config-file",
            str(tmp_path / "mypy.ini"),
            "--strict",
            "--cache-dir",
            str(tmp_path / "cache"),
            str(program),
        ],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "MYPYPATH": str(tmp_path)},
    ).stdout
    assert 'program.py:3: note: Revealed type is "torch' in said
    assert 'Argument "factor" to "scale" has incompatible type "str"; expected "float"' in said
    assert 'Module has no attribute "scael"' in said
    assert "Found 2 errors in 1 file" in said


def test_what_a_family_shares_is_exported(tree) -> None:
    tree.write("kernels/elementwise/_modes.py", '__all__ = ["Mode"]\nclass Mode: ...\n')
    place = f"{tree.project.package}.elementwise._modes"
    assert f"from {place} import Mode as Mode  # type: ignore[" in stub(tree.project)
