from __future__ import annotations

from fictl.report.kinds import sentence


def test_a_kind_is_explained_in_a_sentence() -> None:
    assert sentence("division-by-zero") == "An integer division by zero."


def test_a_kind_of_another_tool_has_a_sentence_too() -> None:
    assert sentence("other").endswith("in its own words.")
