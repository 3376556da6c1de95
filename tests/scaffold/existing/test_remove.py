from __future__ import annotations

from pathlib import Path

import pytest

from fictl.errors import UsageError
from fictl.project import OpFolder, Project
from fictl.scaffold.existing.remove import plan_remove
from fictl.scaffold.plan.plan import Plan
from fictl.scaffold.plan.undo import take_back
from fictl.scaffold.plan.write import apply


@pytest.fixture
def twice(tiny) -> OpFolder:
    return OpFolder(Project.at(tiny), "elementwise", "twice")


def gone(plan: Plan) -> set[str]:
    assert all(text is None for text in plan.files.values())
    return {plan.shown(path) for path in plan.files}


def files(root: Path) -> set[Path]:
    return {path for path in root.rglob("*") if "__pycache__" not in path.parts}


def user(twice: OpFolder, name: str, source: str = "", launcher: str = "") -> OpFolder:
    folder = OpFolder(twice.project, twice.family, name)
    folder.path.mkdir()
    declared = f'@op(archs="8.0", dtypes="i32", mutates="", {source})\ndef {name}(): ...\n'
    folder.op.write_text(declared)
    (folder.path / "launcher.cu").write_text(launcher)
    return folder


def test_exactly_its_files_go(twice) -> None:
    assert gone(plan_remove(twice)) == {
        *(f"kernels/elementwise/twice/{name}.py" for name in ("bench", "jit", "op", "trace")),
        "kernels/elementwise/twice/binding.cpp",
        "kernels/elementwise/twice/launcher.cu",
        "kernels/include/tiny/elementwise/twice.cuh",
        "tests/kernels/elementwise/test_twice.py",
    }


def test_its_committed_definitions_go_too(twice) -> None:
    path = twice.project.root / "tests/trace/definitions/twice/twice_i32.json"
    path.parent.mkdir(parents=True)
    path.write_text("{}")
    assert "tests/trace/definitions/twice/twice_i32.json" in gone(plan_remove(twice))


def test_no_empty_folder_stays_and_it_can_be_taken_back(twice) -> None:
    root = twice.project.root
    before = files(root)
    apply(plan_remove(twice), "remove-op")
    assert files(root) == {root / "fictl.toml"}
    take_back(root)
    assert files(root) == before


def test_another_op_of_the_family_stays(twice) -> None:
    other = user(twice, "other")
    apply(plan_remove(twice), "remove-op")
    assert other.op.is_file()


@pytest.mark.parametrize(
    ("source", "launcher"),
    [('uses="twice"', ""), ("", "#include <tiny/elementwise/twice.cuh>\n")],
)
def test_while_others_use_it_it_stays(twice, source: str, launcher: str) -> None:
    user(twice, "other", source, launcher)
    with pytest.raises(UsageError, match=r"twice is used by tiny/elementwise/other\n"):
        plan_remove(twice)


def test_files_that_nobody_knows_are_named_and_kept(twice) -> None:
    (twice.path / "notes.md").write_text("mine")
    with pytest.raises(UsageError, match=r"files that do not belong to an op: notes\.md") as caught:
        plan_remove(twice)
    assert "--force" in caught.value.hint


def test_by_force_they_go_too(twice) -> None:
    (twice.path / "notes.md").write_text("mine")
    assert "kernels/elementwise/twice/notes.md" in gone(plan_remove(twice, everything=True))


def test_an_op_that_is_broken_can_go(twice) -> None:
    twice.op.write_text("def twice(:\n")
    assert "kernels/elementwise/twice/op.py" in gone(plan_remove(twice))
