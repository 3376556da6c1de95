from __future__ import annotations

from pathlib import Path

import pytest

from fictl.arch import Arch
from fictl.project import find
from fictl.testing.suite import OpSuite
from fictl.trace import Case


@pytest.fixture
def suite(tiny: Path) -> OpSuite:
    (folder,) = find("twice")
    return OpSuite(folder)


def test_specs_cases_templates_and_functions_come_from_their_files(suite: OpSuite) -> None:
    assert [spec.name for spec in suite.specs] == ["elementwise.twice"]
    assert suite.cases == [Case("twice", {"n": 1}, "int32")]
    assert suite.template(suite.cases[0]).inputs["input"].value == 3
    assert suite.function(suite.cases[0]).op.name == "twice"
    assert suite.name == "twice"


def test_exports_are_read_from_the_binding(suite: OpSuite) -> None:
    with suite.folder.binding.open("a", encoding="utf-8") as file:
        file.write("\nTVM_FFI_DLL_EXPORT_TYPED_FUNC(\n    thrice, f);\n")
    assert suite.exported == {"twice", "thrice"}


@pytest.mark.needs_nvcc
def test_a_built_module_shows_what_it_exports(suite: OpSuite) -> None:
    entry = suite.specs[0].build(archs=(Arch(8, 0),))
    assert suite.exports_of(entry) == {"twice"}
