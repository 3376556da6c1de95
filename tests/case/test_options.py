from __future__ import annotations

import json

from fictl.case.options import CaseOptions


def test_options_are_the_same_after_json() -> None:
    options = CaseOptions(dtype="float16", axes={"rows": (1, 2)}, cold=False, seed=3, timeout=2.0)
    assert CaseOptions.from_dict(json.loads(json.dumps(options.to_dict()))) == options


def test_options_of_another_tool_are_left_out() -> None:
    data = {**CaseOptions().to_dict(), "backends": ["sm80"]}
    assert CaseOptions.from_dict(data) == CaseOptions()
