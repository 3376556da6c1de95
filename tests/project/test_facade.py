from __future__ import annotations

import subprocess
import sys
from types import ModuleType

import pytest

from fictl.project import mount
from fictl.project.facade import Facade


@pytest.fixture
def ops(tree) -> ModuleType:
    mount(tree.project)
    module = ModuleType("my_kernels.ops")
    facade = Facade(lambda: tree.project, vars(module))
    module.__getattr__, module.__dir__ = facade.resolve, facade.names
    return module


def test_an_op_is_imported_when_asked_for_and_kept(ops: ModuleType) -> None:
    assert "halve" not in vars(ops)
    assert ops.halve.__name__ == "halve"
    assert vars(ops)["halve"] is ops.halve


def test_dir_lists_the_ops(ops: ModuleType, tree) -> None:
    tree.op("elementwise", "twice")
    assert dir(ops) == ["halve", "twice"]


def test_a_miss_is_an_attribute_error_that_guesses(ops: ModuleType) -> None:
    with pytest.raises(
        AttributeError, match=r"'my_kernels.ops' has no op 'halv'; did you mean 'ha"
    ):
        _ = ops.halv


@pytest.mark.parametrize("name", ["__path__", "_private"])
def test_private_names_are_not_looked_for(ops: ModuleType, name: str) -> None:
    with pytest.raises(AttributeError, match=f"has no op {name!r}$"):
        getattr(ops, name)


def test_the_shipped_ops_are_a_module_of_that_kind() -> None:
    import fictl.ops
    from fictl.kernels.elementwise.scale.op import scale

    assert fictl.ops.scale is scale
    assert "scale" in dir(fictl.ops)


def test_importing_the_facade_imports_no_op_and_no_torch() -> None:
    program = "import sys, fictl.ops; sys.exit('torch' in sys.modules or 'fictl.op' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0


def test_what_a_family_shares_is_there_too(ops: ModuleType, tree) -> None:
    tree.write("kernels/elementwise/_modes.py", '__all__ = ["Mode"]\nclass Mode: ...\n')
    assert ops.halve.__name__ == "halve"
    assert ops.Mode.__name__ == "Mode"
    assert dir(ops) == ["halve"]
