from __future__ import annotations

import sys
from pathlib import Path

import pytest

from fictl.errors import UsageError
from fictl.project import OpFolder, Project, folders
from fictl.project.check import check_project
from fictl.scaffold.existing.export import plan_export
from fictl.scaffold.plan.plan import Plan
from fictl.scaffold.plan.write import apply

OPS = folders(Project.shipped())


@pytest.fixture
def twice(tiny) -> OpFolder:
    return OpFolder(Project.at(tiny), "elementwise", "twice")


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "alone"


def shown(plan: Plan) -> set[str]:
    return {plan.shown(path) for path in plan.files}


def add(folder: OpFolder, path: str, text: str) -> Path:
    target = folder.project.root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text)
    return target


def test_a_users_op_keeps_its_project_s_name_and_its_files_as_they_are(twice, target) -> None:
    plan = plan_export(twice, target)
    assert plan.files[target / "fictl.toml"] == 'name = "tiny"\narchs = "8.0"\n'
    assert shown(plan) == {"fictl.toml"} | {
        path.relative_to(twice.project.root).as_posix() for _, path in twice.files()
    }
    for _, path in twice.files():
        there = plan.files[target / path.relative_to(twice.project.root)]
        assert there == path.read_text()


def test_headers_of_the_project_that_it_reaches_come_along(twice, target) -> None:
    add(twice, "kernels/include/tiny/device/a.cuh", "#include <tiny/device/b.cuh>\n")
    add(twice, "kernels/include/tiny/device/b.cuh", "#include <fictl/device/vec.cuh>\n")
    add(twice, "kernels/include/tiny/device/unused.cuh", "")
    twice.header.write_text("#include <tiny/device/a.cuh>\n")
    found = {name for name in shown(plan_export(twice, target)) if "device" in name}
    assert found == {f"kernels/include/tiny/device/{name}.cuh" for name in "ab"}


def test_what_its_family_shares_comes_along_as_far_as_it_is_imported(twice, target) -> None:
    family = "kernels/elementwise"
    add(twice, f"{family}/_rows.py", "from ._sizes import SIZES\n")
    add(twice, f"{family}/_sizes.py", "SIZES = ()\n")
    add(twice, f"{family}/_unused.py", "")
    add(twice, f"{family}/_plan/lengths.py", "from .table import TABLE\nfrom .. import _widths\n")
    add(twice, f"{family}/_plan/table.py", "TABLE = ()\n")
    add(twice, f"{family}/_plan/unused.py", "")
    add(twice, f"{family}/_widths.py", "")
    imports = "\nfrom .. import _rows\nfrom .._plan.lengths import TABLE\n"
    twice.jit.write_text(twice.jit.read_text() + imports)
    found = {name for name in shown(plan_export(twice, target)) if "/_" in name}
    names = ("_rows.py", "_sizes.py", "_plan/lengths.py", "_plan/table.py", "_widths.py")
    assert found == {f"{family}/{name}" for name in names}


def test_ops_that_it_uses_come_along_with_all_that_is_theirs(twice, target) -> None:
    text = twice.op.read_text().replace("twice", "four_times")
    text = text.replace('mutates=""', 'mutates="", uses="twice scale"')
    add(twice, "kernels/math/four_times/op.py", text)
    op = OpFolder(twice.project, "math", "four_times")
    found = shown(plan_export(op, target))
    assert {"kernels/math/four_times/op.py", "kernels/elementwise/twice/op.py"} <= found
    assert "tests/kernels/elementwise/test_twice.py" in found
    assert not [name for name in found if "scale" in name]


def test_fixtures_of_its_tests_come_along(twice, target) -> None:
    add(twice, "tests/kernels/conftest.py", "")
    add(twice, "tests/kernels/elementwise/conftest.py", "")
    add(twice, "tests/kernels/other/conftest.py", "")
    found = {name for name in shown(plan_export(twice, target)) if name.endswith("conftest.py")}
    assert found == {"tests/kernels/conftest.py", "tests/kernels/elementwise/conftest.py"}


def test_a_users_op_may_get_another_project_s_name(twice, target) -> None:
    plan = plan_export(twice, target, "large")
    launcher = plan.files[target / "kernels/elementwise/twice/launcher.cu"] or ""
    assert "#include <large/elementwise/twice.cuh>" in launcher
    assert "namespace large::elementwise {" in launcher
    assert "tiny" not in "".join(text or "" for text in plan.files.values())


def test_an_op_that_stands_alone_is_compiled_and_called(
    twice, target, users_cache, monkeypatch
) -> None:
    monkeypatch.setenv("FICTL_DEVICE", "emu")
    apply(plan_export(twice, target, "large"), "export-op")
    project = Project.at(target)
    assert check_project(project) == ()
    try:
        assert OpFolder(project, "elementwise", "twice").load("op").twice(21) == 42
    finally:
        for name in [name for name in sys.modules if name.split(".")[0] == "large"]:
            del sys.modules[name]


@pytest.mark.parametrize("op", OPS, ids=str)
def test_each_shipped_op_keeps_the_law_where_it_stands_alone(op, target) -> None:
    plan = plan_export(op, target)
    apply(plan, "export-op")
    assert Project.at(target).name == f"{op.module}_kernels"
    assert check_project(Project.at(target)) == ()


@pytest.mark.parametrize("op", OPS, ids=str)
def test_what_fictl_has_anyway_is_not_copied(op, target) -> None:
    found = shown(plan_export(op, target))
    assert not [name for name in found if "/device/" in name or "binding/" in name]
    assert not [name for name in found if "include/fictl" in name]


@pytest.mark.parametrize("op", OPS, ids=str)
def test_a_shipped_op_asks_for_fictl_s_names_from_outside(op, target) -> None:
    plan = plan_export(op, target)
    for path, text in plan.files.items():
        if path.suffix in (".cu", ".cuh", ".cpp"):
            asked = "namespace device = fictl::device;"
            asked = asked if path.suffix == ".cuh" else "using namespace fictl;"
            assert f"namespace fictl::{op.family}" not in (text or "")
            assert (text or "").count(asked) == 1


def test_a_folder_with_something_in_it_is_refused(twice, target) -> None:
    target.mkdir()
    plan_export(twice, target)
    (target / "mine").touch()
    with pytest.raises(UsageError, match="alone is not an empty folder"):
        plan_export(twice, target)


def test_a_file_is_no_folder(twice, target) -> None:
    target.touch()
    with pytest.raises(UsageError, match="alone is not an empty folder"):
        plan_export(twice, target)


@pytest.mark.parametrize("name", ["fictl", "class", "my-kernels"])
def test_a_name_that_no_project_can_have_is_refused(twice, target, name: str) -> None:
    with pytest.raises(UsageError, match="cannot name a project"):
        plan_export(twice, target, name)
