from __future__ import annotations

import ast
from pathlib import Path

import pytest

from fictl.project.python_source import SourceError, assigned, definitions, parse


def tree_of(text: str) -> ast.Module:
    return ast.parse(text)


def test_definitions_are_what_a_module_binds_at_its_top_level() -> None:
    text = "def f():\n  inner = 1\nclass C: ...\na = b = 1\nc: int = 2\nd.e = 3\n"
    assert set(definitions(tree_of(text))) == {"f", "C", "a", "b", "c"}


def test_the_last_assignment_counts() -> None:
    value = assigned(tree_of("a = 1\na = 2\n"), "a")
    assert isinstance(value, ast.Constant)
    assert value.value == 2


@pytest.mark.parametrize("name", ["f", "missing"])
def test_what_is_not_assigned_has_no_value(name: str) -> None:
    assert assigned(tree_of("def f(): ...\n"), name) is None


@pytest.mark.parametrize("content", [b"def f(:\n", b"a = '\xff'\n", b"a\0b"])
def test_a_file_that_is_no_python_is_an_error_with_its_place(
    tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "op.py"
    path.write_bytes(content)
    with pytest.raises(SourceError, match=r"op\.py:1: ") as caught:
        parse(path)
    assert (caught.value.path, caught.value.line) == (path, 1)
