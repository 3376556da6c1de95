from __future__ import annotations

import pytest

from fictl.cli.one_op import lines_by_folder, one_op
from fictl.errors import UsageError
from fictl.scaffold.plan.plan import Plan


@pytest.mark.parametrize("name", ["twice", "elementwise/twice", "tiny/twice"])
def test_an_op_is_meant_by_its_folder_s_name(tiny, name: str) -> None:
    assert str(one_op(name)) == "tiny/elementwise/twice"


def test_an_op_is_meant_by_a_function_of_it(tiny) -> None:
    op = tiny / "kernels/elementwise/twice/op.py"
    op.write_text(op.read_text().replace("def twice", "def doubled"))
    assert str(one_op("doubled")) == "tiny/elementwise/twice"


def test_a_family_is_no_op_though_it_has_one_only(tiny) -> None:
    with pytest.raises(
        UsageError, match="'elementwise' is not a single op: tiny/elementwise/twice"
    ):
        one_op("elementwise")


def test_files_are_shown_by_folder(tmp_path) -> None:
    paths = [tmp_path / name for name in ("fictl.toml", "a/b.py", "c/d.py", "a/e.py")]
    assert [*lines_by_folder(Plan(tmp_path, {}), paths)] == [
        "  fictl.toml",
        "  a/  b.py e.py",
        "  c/  d.py",
    ]
