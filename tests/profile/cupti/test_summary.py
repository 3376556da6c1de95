"""What crosses from the process of an op."""

from __future__ import annotations

from fictl.child.codec import from_text, to_text
from fictl.profile.cupti.summarise import summarise
from fictl.profile.cupti.summary import CuptiSummary


def test_it_is_the_same_behind_json(kernel, copy, api_call, h200):
    work = [kernel(), copy(start=12, end=20)]
    summary = summarise("s", work, [api_call()], lambda index: h200)
    assert from_text(CuptiSummary, to_text(summary)) == summary


def test_its_document_has_what_rows_amount_to(kernel):
    row = summarise("s", [kernel()], [], lambda index: None).to_dict()["kernels"][0]
    assert row["median"] == row["min"] == row["max"] == row["seconds"][0]
