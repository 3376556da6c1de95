"""Which files beside those of an op are no saves."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.watch.leftovers import is_leftover

HERE = Path("/home/.me/project")


@pytest.mark.parametrize(
    "name",
    [
        ".twice.cuh.swp",
        "twice.cuh~",
        "4913",
        ".#twice.cuh",
        "#twice.cuh#",
        ".goutputstream-X1",
        "twice.cuh___jb_tmp___",
        "twice.cuh.tmp",
        "__pycache__/op.cpython-311.pyc",
        ".git/index",
        "twice.cuh.orig",
    ],
)
def test_what_an_editor_leaves_is_none(name: str) -> None:
    assert is_leftover(HERE / name, HERE)


@pytest.mark.parametrize("name", ["twice.cuh", "launcher.cu", "op.py", "config.jinja", "v2/x.cuh"])
def test_a_file_of_an_op_is_one_wherever_its_project_lies(name: str) -> None:
    assert not is_leftover(HERE / name, HERE)
