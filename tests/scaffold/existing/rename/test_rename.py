from __future__ import annotations

import pytest

from fictl.errors import UsageError
from fictl.project import OpFolder
from fictl.project.check import check_project
from fictl.scaffold.existing.rename import plan_rename
from fictl.scaffold.plan.write import apply

_MOVED = (
    "kernels/elementwise/{}/bench.py",
    "kernels/elementwise/{}/binding.cpp",
    "kernels/elementwise/{}/jit.py",
    "kernels/elementwise/{}/launcher.cu",
    "kernels/elementwise/{}/op.py",
    "kernels/elementwise/{}/trace.py",
    "kernels/include/tiny/elementwise/{}.cuh",
    "tests/kernels/elementwise/test_{}.py",
)
_USERS = ("kernels/elementwise/sum_twice/launcher.cu", "kernels/elementwise/sum_twice/op.py")


def verbs(plan) -> dict[str, str]:
    return {plan.shown(change.path): change.verb for change in plan.changes()}


def test_files_move_and_users_change(used) -> None:
    found = verbs(plan_rename(used, "thrice").plan)
    assert found == (
        {name.format("twice"): "gone" for name in _MOVED}
        | {name.format("thrice"): "new" for name in _MOVED}
        | dict.fromkeys(_USERS, "changed")
    )


def test_what_else_names_it_is_said_with_its_line(used) -> None:
    left = plan_rename(used, "thrice").left_alone
    said = {f"{each.path.name}:{each.line}" for each in left}
    assert "README.md:3" in said
    assert not {"twice.cuh:1", "test_twice.py:1"} & said


def test_the_law_holds_afterwards(used) -> None:
    before = check_project(used.project)
    renamed = plan_rename(used, "thrice")
    apply(renamed.plan, "rename-op")
    assert [each.message for each in check_project(used.project)] == [
        each.message.replace(" twice", " thrice") for each in before
    ]
    assert [each.name for each in renamed.folder.declarations()] == ["thrice"]


def test_the_renamed_op_is_compiled_and_called(twice, users_cache, monkeypatch) -> None:
    monkeypatch.setenv("FICTL_DEVICE", "emu")
    renamed = plan_rename(twice, "two_fold", "doubling")
    apply(renamed.plan, "rename-op")
    assert renamed.folder == OpFolder(twice.project, "doubling", "two_fold")
    assert renamed.folder.load("op").two_fold(21) == 42
    assert not twice.path.exists()


def test_files_of_the_folder_that_bear_the_name_go_along(twice) -> None:
    (twice.path / "twice_plan.py").write_text("ROWS = 64\n")
    twice.op.write_text(twice.op.read_text() + "\nfrom .twice_plan import ROWS\n")
    plan = plan_rename(twice, "thrice").plan
    assert (
        (plan.files[twice.path.with_name("thrice") / "twice_plan.py".replace("twice", "thrice")])
        == "ROWS = 64\n"
    )
    assert "from .thrice_plan import ROWS" in (
        plan.files[twice.path.with_name("thrice") / "op.py"] or ""
    )


def test_headers_of_backends_go_along(twice) -> None:
    launcher = twice.launchers[0]
    launcher.rename(launcher.with_name("launcher_sm90.cu"))
    variant = twice.header.with_name("twice_sm90.cuh")
    variant.write_text("// twice\n")
    plan = plan_rename(twice, "thrice").plan
    assert plan.files[variant.with_name("thrice_sm90.cuh")] == "// thrice\n"


@pytest.mark.parametrize(
    ("name", "family", "said"),
    [
        ("twice", "", "has that name already"),
        ("twice", "elementwise", "has that name already"),
        ("class", "", "cannot name an op"),
        ("Thrice", "", "lower case"),
        ("sum_twice", "", "there is an op 'sum_twice' already"),
        ("thrice", "my-family", "cannot name a family"),
        ("value", "", "would take a name that the op's files use for something else: value"),
    ],
)
def test_a_name_that_will_not_do_is_refused(used, name: str, family: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        plan_rename(used, name, family)


def test_a_place_that_is_taken_is_refused(twice) -> None:
    twice.path.with_name("thrice").mkdir()
    with pytest.raises(UsageError, match=r"elementwise/thrice is there already"):
        plan_rename(twice, "thrice")


def test_a_file_that_is_no_text_is_refused_in_words(twice) -> None:
    (twice.path / "table.bin").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match=r"cannot read .*table\.bin"):
        plan_rename(twice, "thrice")


def test_a_user_that_cannot_be_read_is_named_with_its_line(used) -> None:
    user = used.path.with_name("sum_twice") / "op.py"
    user.write_text("from tiny.ops import twice\ndef f(:\n")
    with pytest.raises(UsageError, match=r"sum_twice/op\.py:2: not valid Python"):
        plan_rename(used, "thrice")
