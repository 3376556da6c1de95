from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from fictl.testing.hooks.markers import gpus_of, malformed, rule_of


def item(*marks: pytest.MarkDecorator) -> Any:
    own = [decorator.mark for decorator in marks]
    return SimpleNamespace(
        location=("test_a.py", 6, "test_a"),
        get_closest_marker=lambda name: next((m for m in own if m.name == name), None),
        iter_markers=lambda name: (m for m in own if m.name == name),
    )


def test_markers_give_the_rule_and_the_number_of_processes() -> None:
    marked = item(pytest.mark.arch(">=8.0"), pytest.mark.gpus(2))
    assert (rule_of(marked), gpus_of(marked), malformed(marked)) == (">=8.0", 2, "")
    assert (rule_of(item()), gpus_of(item())) == ("", 0)


@pytest.mark.parametrize(
    ("mark", "why"),
    [
        (pytest.mark.needs_gpu("cuda"), "these arguments are not what it takes"),
        (pytest.mark.arch(""), "a rule that is empty admits nothing"),
        (pytest.mark.arch(9), "these arguments are not what it takes"),
        (pytest.mark.gpus(0), "0 processes run nothing"),
        (pytest.mark.gpus(True), "these arguments are not what it takes"),
    ],
)
def test_a_malformed_marker_is_named_with_its_place(mark: pytest.MarkDecorator, why: str) -> None:
    message = malformed(item(mark))
    assert message.startswith("test_a.py:7: @pytest.mark.")
    assert why in message
    assert "hint:" in message
