from __future__ import annotations

from fictl.scaffold.existing.import_order import sort_imports


def test_a_block_with_the_name_is_put_in_order() -> None:
    text = "import torch\n\nfrom b.x import y\nimport b.ops\nfrom a import c\n\nx = 1\n"
    assert sort_imports(text, "b") == (
        "import torch\n\nimport b.ops\nfrom a import c\nfrom b.x import y\n\nx = 1\n"
    )


def test_other_blocks_are_as_their_author_wants_them() -> None:
    text = "from z import b_\nfrom a import c\n"
    assert sort_imports(text, "b") == text


def test_imports_over_several_lines_are_left_alone() -> None:
    text = "from b import (\n    c,\n)\nfrom a import d\n"
    assert sort_imports(text, "b") == text
