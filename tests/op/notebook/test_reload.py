"""Edits of an op's files, seen by the process that runs already."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
import torch

from fictl.errors import UsageError
from fictl.op import decorator, op
from fictl.op.notebook.autoreload import AutoReload
from fictl.op.notebook.reload import Reloaded, reload
from fictl.project import find, mount
from fictl.project.python_source import SourceError

Edit = Callable[[str, str, str], None]


@pytest.fixture
def twice_folder(tiny: Path, monkeypatch: pytest.MonkeyPatch, users_cache: None) -> Path:
    """The emulated device runs it; nothing of it is imported."""
    monkeypatch.setenv("FICTL_DEVICE", "emu")
    mount()
    return tiny / "kernels" / "elementwise" / "twice"


@pytest.fixture
def ops(twice_folder: Path) -> ModuleType:
    return sys.modules["tiny.ops"]


@pytest.fixture
def edit(twice_folder: Path) -> Edit:
    def replace(name: str, old: str, new: str) -> None:
        path = twice_folder / name
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    return replace


def test_without_an_edit_nothing_changes(ops: ModuleType) -> None:
    ops.twice(3)
    first, second = reload(ops.twice), reload(ops.twice)
    assert first == second == Reloaded("tiny/elementwise/twice", False, first.keys)
    assert len(first.keys) == 1


def test_an_edit_of_a_kernel_is_another_module_for_functions_imported_before(
    ops: ModuleType, edit: Edit
) -> None:
    before = ops.twice
    assert before(3) == 6
    edit("launcher.cu", "2 * value", "3 * value")
    assert before(3) == 6  # Only a reload changes what runs.
    assert reload("twice").changed
    assert before(3) == ops.twice(3) == 9
    assert not reload("twice").changed


def test_an_edit_taken_back_is_the_module_of_before(ops: ModuleType, edit: Edit) -> None:
    ops.twice(1)
    old = reload("twice").keys
    edit("launcher.cu", "2 * value", "3 * value")
    reload("twice")
    ops.twice(1)
    edit("launcher.cu", "3 * value", "2 * value")
    assert reload("twice") == Reloaded("tiny/elementwise/twice", True, old)
    assert ops.twice(1) == 2


def test_flags_edited_in_jit_py_are_another_module(ops: ModuleType, edit: Edit) -> None:
    assert ops.twice(3) == 6
    edit("jit.py", "__file__)", '__file__, extra_cflags=["-DEDITED"])')
    assert reload("twice").changed


def test_edits_of_op_py_within_a_second_all_count(ops: ModuleType, edit: Edit) -> None:
    before = ops.twice
    before(1)
    for old, new in (("(input))", "(input) + 1)"), ("+ 1)", "+ 2)"), ("+ 2)", "+ 3)")):
        edit("op.py", old, new)
        assert not reload("twice").changed  # The kernel is the same.
    assert before(1) == 5
    assert ops.twice is before


def test_what_torch_compiled_is_traced_again(ops: ModuleType, edit: Edit) -> None:
    edit("op.py", "int(kernel.twice(input))", "2 * input")

    @torch.compile(backend="eager", fullgraph=True)
    def quadruple(x: torch.Tensor) -> torch.Tensor:
        return x * ops.twice(2)

    assert quadruple(torch.ones(1)).item() == 4
    edit("op.py", "2 * input", "3 * input")
    reload("twice")
    assert quadruple(torch.ones(1)).item() == 6


def test_objects_of_a_class_have_the_new_methods(ops: ModuleType, edit: Edit) -> None:
    edit(
        "op.py",
        "kernel = ",
        "class Adder:\n"
        "    def __init__(self) -> None:\n"
        "        super().__init__()\n\n"
        "    def one(self) -> int:\n"
        "        return 1\n\n"
        "kernel = ",
    )
    (folder,) = find("twice")
    op_module = folder.load("op")
    adder = op_module.Adder()
    edit("op.py", "return 1", "return 2")
    reload("twice")
    assert adder.one() == 2
    assert isinstance(op_module.Adder(), type(adder))


def test_a_new_declaration_is_that_of_the_function_imported_before(
    ops: ModuleType, edit: Edit
) -> None:
    before = ops.twice
    edit("op.py", '"i32"', '"i32 f32"')
    reload(before)
    assert [dtype.short for dtype in before.op.dtypes] == ["i32", "f32"]


def test_an_op_that_was_renamed_is_gone_and_the_new_one_is_found(
    ops: ModuleType, edit: Edit
) -> None:
    assert ops.twice(1) == 2
    edit("op.py", "def twice", "def doubled")
    reload("tiny/elementwise/twice")
    assert ops.doubled(2) == 4
    with pytest.raises(AttributeError, match="no op 'twice'"):
        _ = ops.twice


def test_a_file_that_does_not_run_leaves_everything_as_it_was(ops: ModuleType, edit: Edit) -> None:
    assert ops.twice(1) == 2
    edit("op.py", "kernel = ", "op = None\nkernel = missing or ")
    with pytest.raises(SourceError, match=r"op.py:\d+: NameError: name 'missing'"):
        reload("twice")
    assert ops.twice(1) == 2
    assert sys.modules["tiny.elementwise.twice.op"].op is op


def test_an_op_that_nobody_called_has_no_key_yet(ops: ModuleType) -> None:
    assert reload("twice") == Reloaded("tiny/elementwise/twice", False, ())


def test_an_op_that_nobody_knows_is_a_usage_error(ops: ModuleType) -> None:
    with pytest.raises(UsageError, match="there is no op 'thrice'"):
        reload("thrice")


def test_a_function_of_no_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    @op(archs=">=8.0", dtypes="f16", mutates="")
    def of_a_notebook() -> None: ...

    monkeypatch.delattr(sys.modules[__name__], "__file__", raising=False)
    with pytest.raises(UsageError, match="is not a file that can be read again"):
        reload(of_a_notebook)


@pytest.fixture
def auto(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if FICTL_AUTORELOAD were set when the first op is imported."""
    watching = (AutoReload(),)
    monkeypatch.setattr(decorator, "observers", lambda: watching)


@pytest.mark.usefixtures("auto")
def test_autoreload_sees_an_edit_of_a_kernel_at_the_next_call(ops: ModuleType, edit: Edit) -> None:
    before = ops.twice
    assert before(3) == 6
    edit("launcher.cu", "2 * value", "3 * value")
    assert before(3) == 9


@pytest.mark.usefixtures("auto")
def test_autoreload_runs_the_edited_python_in_the_very_call(ops: ModuleType, edit: Edit) -> None:
    before = ops.twice
    for number in range(3):
        old, new = ("(input)" + f" + {n}" * (n > 0) for n in (number, number + 1))
        edit("op.py", f"{old})", f"{new})")
        assert before(1) == 2 + number + 1


@pytest.mark.usefixtures("auto")
def test_autoreload_says_what_is_wrong_until_it_is_mended(ops: ModuleType, edit: Edit) -> None:
    assert ops.twice(1) == 2
    edit("op.py", "kernel = ", "kernel = missing or ")
    for _ in range(2):
        with pytest.raises(SourceError, match="missing"):
            ops.twice(1)
    edit("op.py", "missing or ", "")
    assert ops.twice(1) == 2


@pytest.mark.usefixtures("auto")
def test_autoreload_leaves_ops_of_no_folder_alone() -> None:
    @op(archs=">=8.0", dtypes="f16", mutates="")
    def answer() -> int:
        return 42

    assert answer() == 42
