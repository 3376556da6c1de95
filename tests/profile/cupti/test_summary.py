"""What crosses from the process of an op."""

from __future__ import annotations

import json

from fictl.profile.cupti.summarise import summarise
from fictl.profile.cupti.summary import Summary


def test_it_is_the_same_behind_json(kernel, copy, api_call, h200):
    work = [kernel(), copy(start=12, end=20)]
    summary = summarise("s", work, [api_call()], lambda index: h200)
    assert Summary.from_dict(json.loads(json.dumps(summary.to_dict()))) == summary


def test_its_document_has_what_rows_amount_to(kernel):
    row = summarise("s", [kernel()], [], lambda index: None).to_dict()["kernels"][0]
    assert row["median"] == row["min"] == row["max"] == row["seconds"][0]
