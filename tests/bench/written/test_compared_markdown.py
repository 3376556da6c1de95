from __future__ import annotations

from dataclasses import replace

from fictl.bench.compare.outcome import CompareOutcome
from fictl.bench.written.compared_markdown import compared_markdown
from fictl.bench.written.markdown_text import MOST_ROWS


def test_what_needs_a_look_is_shown_and_the_rest_is_folded(outcome: CompareOutcome) -> None:
    text = compared_markdown(outcome)
    shown, _, folded = text.partition("<details><summary>1 SAME</summary>")
    assert shown.startswith("<!-- fictl compare -->\n### ✗ fictl compare: 4 cases: ")
    assert "slow-8 | 2.00 us | 3.00 us | 1.500x | 1.400 .. 1.600 | **SLOWER** |" in shown
    assert "**UNCLEAR**: about 60 rounds would tell" in shown
    assert "same-8" not in shown
    assert "same-8" in folded
    assert "- bad-8: feature/&#60;b&#62;: out: 3 of 8 differ" in folded
    assert "- gone-8: only main has it" in folded


def test_no_name_becomes_markup(outcome: CompareOutcome) -> None:
    text = compared_markdown(outcome)
    assert "<img" not in text
    assert "<b>" not in text
    assert "`" not in text
    assert "@ada" not in text
    assert "](" not in text
    assert "\n### head" not in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert {line.count("|") for line in rows} == {7}


def test_a_comment_has_an_end(outcome: CompareOutcome) -> None:
    many = replace(outcome, cases=outcome.cases[2:3] * 5000, only_a=("x" * 50,) * 5000)
    text = compared_markdown(many)
    assert len(text) < 65536
    assert f"and {5000 - MOST_ROWS} more" in text


def test_energy_is_a_column_where_it_was_counted(outcome: CompareOutcome) -> None:
    cases = tuple(replace(case, joules=(0.02, 0.03)) for case in outcome.cases)
    assert "| energy |" in compared_markdown(replace(outcome, cases=cases))
    assert "20 → 30 mJ (1.50x)" in compared_markdown(replace(outcome, cases=cases))
