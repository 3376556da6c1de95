from __future__ import annotations

from pathlib import Path

import pytest

from fictl.arch import Arch
from fictl.errors import UsageError
from fictl.project import find
from fictl.testing.generated.suite import OpSuite
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


@pytest.fixture
def two(stray: Path) -> OpSuite:
    """Of a folder with two functions."""
    bench = stray / "kernels" / "elementwise" / "shift" / "bench.py"
    with bench.open("a", encoding="utf-8") as file:
        file.write('    yield Case("spoil", {"n": 40}, "int32")\n')
    (folder,) = find("shift")
    return OpSuite(folder)


def test_every_function_has_variants(two: OpSuite) -> None:
    found = {(each.case.function, each.layout.value) for each in two.variants()}
    assert found >= {("shift", "contiguous"), ("spoil", "contiguous"), ("spoil", "offset")}
    texts = [str(each) for each in two.variants()]
    assert len(texts) == len({*texts})


def test_all_variants_have_the_seed_of_the_run(two: OpSuite) -> None:
    assert {each.seed for each in two.variants(seed=5)} == {5}


def test_a_name_brings_its_own_seed(two: OpSuite) -> None:
    name = "spoil-40-int32,strided,seed=123"
    assert [str(each) for each in two.variants(name, seed=5)] == [name]


def test_a_case_without_a_seed_has_that_of_the_run(two: OpSuite) -> None:
    chosen = two.variants("spoil-40-int32", seed=5)
    assert {each.seed for each in chosen} == {5}
    assert {str(each.case) for each in chosen} == {"spoil-40-int32"}


def test_a_case_that_there_is_not_is_refused(two: OpSuite) -> None:
    with pytest.raises(UsageError, match="there is no case 'spoil-41-int32'") as info:
        two.variants("spoil-41-int32")
    assert "spoil-40-int32" in info.value.hint
