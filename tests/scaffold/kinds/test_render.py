"""Template trees: names and texts of files, what they include, and errors that name the place."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.errors import UsageError
from fictl.scaffold.kinds.render import render

CONTEXT = {"name": "scale", "wide": False, "items": ("a", "b")}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Of a kind: what other kinds share is beside it."""
    folder = tmp_path / "op" / "mine"
    folder.mkdir(parents=True)
    return folder


def _rendered(tree: Path, **files: str) -> dict[str, str]:
    for name, text in files.items():
        path = tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    own = {where: tree / where for where in files if not where.startswith("..")}
    return render(own, CONTEXT)


def test_names_and_texts_are_templates(tree: Path) -> None:
    found = _rendered(tree, **{"kernels/{{name}}/op.py": "def {{ name }}(): ...\n"})
    assert found == {"kernels/scale/op.py": "def scale(): ...\n"}


def test_a_file_whose_name_is_empty_in_a_part_is_left_out(tree: Path) -> None:
    names = ("{% if wide %}a.py{% endif %}", "{{ 'kernels' if wide }}/b.py", "c.py")
    assert [*_rendered(tree, **dict.fromkeys(names, ""))] == ["c.py"]


def test_lines_of_statements_leave_nothing(tree: Path) -> None:
    text = "{% for each in items %}\n  {% if each %}\n{{ each }}\n  {% endif %}\n{% endfor %}\n"
    assert _rendered(tree, f=text)["f"] == "a\nb\n"


def test_nothing_is_escaped_and_the_last_line_ends(tree: Path) -> None:
    assert _rendered(tree, f="<{{ name }} & co>\n")["f"] == "<scale & co>\n"


def test_a_raw_part_is_a_template_of_the_op_itself(tree: Path) -> None:
    assert (
        _rendered(tree, f="{% raw %}{{ type }}{% endraw %} {{ name }}")["f"] == "{{ type }} scale"
    )


def test_what_lies_beside_the_tree_can_be_included(tree: Path) -> None:
    files = {"a": "{% include '_macros/m.jinja' %}", "../_macros/m.jinja": "of {{ name }}"}
    assert _rendered(tree, **files) == {"a": "of scale"}


def test_lists_are_broken_into_lines_by_functions(tree: Path) -> None:
    assert _rendered(tree, f="{{ py('f(', items, ')') }} {{ cpp('g(', items, ');') }}")["f"] == (
        "f(a, b) g(a, b);"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a\nb\n{{ nmae }}\n", "f:3: 'nmae' is undefined"),
        ("a\n{% if nmae %}x{% endif %}\n", "f:2: 'nmae' is undefined"),
        ("{{ name.nope }}\n", "f:1: .*has no attribute 'nope'"),
        ("a\n\n{% if %}\n", "f:3: Expected an expression"),
        ("a\n{{ 1 // 0 }}\n", "f:2: .*by zero"),
        ("a\n{% include 'none' %}\n", "f:2: .*none"),
    ],
)
def test_an_error_names_the_file_and_the_line(tree: Path, text: str, said: str) -> None:
    with pytest.raises(UsageError, match=rf"mine/{said}"):
        _rendered(tree, f=text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a\n{{ nmae }}\n", "'nmae' is undefined"),
        ("a\n{% if %}\n", "Expected an expression"),
    ],
)
def test_an_error_in_what_is_included_names_that(tree: Path, text: str, said: str) -> None:
    files = {"f": "{% include '_macros/m.jinja' %}", "../_macros/m.jinja": text}
    with pytest.raises(UsageError, match=rf"_macros/m\.jinja:2: {said}"):
        _rendered(tree, **files)


def test_an_error_in_a_file_name_names_the_file(tree: Path) -> None:
    with pytest.raises(UsageError, match=r"mine/\{\{ nmae \}\}:1: 'nmae' is undefined"):
        _rendered(tree, **{"{{ nmae }}": ""})


def test_a_file_that_is_no_text_is_refused_by_name(tree: Path) -> None:
    (tree / "f").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match=r"mine/f: .*utf-8"):
        render({"f": tree / "f"}, CONTEXT)
