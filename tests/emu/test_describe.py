"""The words of reports."""

from __future__ import annotations

import pytest

from fictl.emu import describe as words
from fictl.emu.describe import cause, describe


def test_facts_stand_in_the_words() -> None:
    facts = {"operation": "__shfl_sync()", "mask": 0xFF}
    said = describe("bad-mask", facts)
    assert said.startswith("__shfl_sync() with the mask 0x000000ff, ")


@pytest.mark.parametrize("kind", words._WHAT)
def test_a_report_that_lacks_its_facts_can_still_be_read(kind: str) -> None:
    assert describe(kind, {})
    assert cause(kind, {}) is not None


def test_what_is_not_known_is_a_question_mark() -> None:
    assert describe("null-pointer", {}) == "an access at address ?"


def test_a_kind_without_words_is_said_by_its_name() -> None:
    assert describe("cosmic-ray", {}) == "cosmic ray"
    assert cause("cosmic-ray", {}) == ""


def test_a_fact_more_than_the_words_need_does_no_harm() -> None:
    assert describe("trap", {"weather": "fine"}) == "the kernel executed a trap"
