from __future__ import annotations

import pytest

_OP = "kernels/elementwise/halve"


@pytest.mark.parametrize(
    "line",
    [
        "import math, torch.nn.functional",
        "from fictl.trace import Case",
        "import fictl.jit",
        "from .jit import aot",
        "from . import trace",
        "from .._plan import table",
        "from .. import _plan",
        "from my_kernels.elementwise._plan import table",
        "from my_kernels.elementwise.halve.op import halve",
    ],
)
def test_what_is_ones_own_may_be_imported(tree, problems, line: str) -> None:
    tree.edit(f"{_OP}/bench.py", "def cases", f"{line}\ndef cases")
    assert problems() == []


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("import numpy", "numpy"),
        ("from fictl.project import Project", "fictl.project.Project"),
        ("from fictl.jit.store.stores import Store", "fictl.jit.store.stores.Store"),
        ("from ..twice.op import twice", "my_kernels.elementwise.twice.op.twice"),
        ("from ...norm._plan import table", "my_kernels.norm._plan.table"),
        ("from fictl.ops import scale", "fictl.ops.scale"),
    ],
)
def test_what_is_not_is_refused(tree, problems, line: str, name: str) -> None:
    tree.edit(f"{_OP}/bench.py", "def cases", f"{line}\ndef cases")
    assert problems() == [f"imports {_OP}/bench.py:1 bench.py imports {name}"]


@pytest.mark.parametrize(
    "line", ["from fictl.ops import scale", "from fictl.kernels.elementwise.scale.op import scale"]
)
def test_the_functions_that_an_op_uses_may_be_imported(tree, problems, line: str) -> None:
    tree.edit(f"{_OP}/op.py", "import torch", line)
    tree.edit(f"{_OP}/op.py", 'mutates="out"', 'mutates="out", uses="scale"')
    assert problems() == []


def test_a_bench_may_bring_in_what_it_compares_with(tree, problems) -> None:
    tree.write(f"{_OP}/bench.py", "def cases():\n    import flashinfer\n    yield 1\n")
    assert problems() == []


def test_an_op_may_not(tree, problems) -> None:
    tree.edit(f"{_OP}/op.py", "    kernel.halve", "    import flashinfer\n    kernel.halve")
    assert problems() == [f"imports {_OP}/op.py:10 op.py imports flashinfer"]


@pytest.mark.parametrize("library", ["triton", "cutlass"])
def test_only_a_kernel_may_import_its_language(tree, problems, library: str) -> None:
    tree.write(f"{_OP}/kernel.py", f"import {library}.language as tl\ndef variants(): ...\n")
    assert problems() == []
    tree.edit(f"{_OP}/op.py", "import torch", f"import {library}")
    assert problems() == [f"imports {_OP}/op.py:1 op.py imports {library}"]
