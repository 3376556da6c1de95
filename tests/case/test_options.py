from __future__ import annotations

from fictl.case.options import CaseOptions
from fictl.child.codec import from_text, to_text


def test_options_are_the_same_after_json() -> None:
    options = CaseOptions(dtype="float16", axes={"rows": (1, 2)}, cold=False, seed=3, timeout=2.0)
    assert from_text(CaseOptions, to_text(options)) == options
