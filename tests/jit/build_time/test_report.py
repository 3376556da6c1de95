"""A measurement as plain data."""

from __future__ import annotations

import json

from fictl.jit.build_time.last_edit import LastEdit
from fictl.jit.build_time.phases import Phase
from fictl.jit.build_time.report import BuildTime, Header, KernelTime


def test_it_is_json_with_seconds_that_a_clock_can_tell() -> None:
    time = BuildTime(
        1.23456789,
        (Phase("a.cu", "cicc", 1.0, "8.0"),),
        (Header("a.cu", "x.h", "", 7, None),),
        (KernelTime("a.cu", "scale", 0.00001),),
        LastEdit(1.0, ("a.cu",), {"a.cu": 1.55557}, 0.0, 1.0),
    )
    data = json.loads(json.dumps(time.to_dict()))
    assert data["cold_seconds"] == 1.2346
    assert data["phases"] == [{"unit": "a.cu", "name": "cicc", "seconds": 1.0, "arch": "8.0"}]
    assert data["headers"][0]["seconds"] is None
    assert data["kernels"][0]["seconds"] == 0.0
    assert data["last_edit"]["units"] == {"a.cu": 1.5556}


def test_a_module_without_a_past_has_no_last_edit() -> None:
    assert BuildTime(0.0, (), (), (), None).to_dict()["last_edit"] is None
