from __future__ import annotations

from typing import Any

import pytest

from fictl.errors import InvalidValue
from fictl.trace import Definition, Workload
from fictl.trace.documents.fitting import require_fit

_MADE = Definition.model_validate(
    {
        "name": "scale",
        "op_type": "norm",
        "axes": {"m": {"type": "var"}, "n": {"type": "const", "value": 8}},
        "constraints": ["m % 2 == 0", "s > 0", "x.max() < 9"],
        "inputs": {
            "x": {"shape": ["m", "n"], "dtype": "float16"},
            "s": {"shape": None, "dtype": "float16"},
            "k": {"shape": None, "dtype": "int8"},
        },
        "outputs": {"y": {"shape": ["m", "n"], "dtype": "float16"}},
        "reference": "def run(x, s, k):\n    return x * s\n",
    }
)


def fits(m: int = 4, **inputs: Any) -> dict[str, int]:
    said = {"x": {"type": "random"}, "s": _number(1.0), "k": _number(1), **inputs}
    document = {"axes": {"m": m}, "inputs": said, "uuid": "w"}
    return require_fit(_MADE, Workload.model_validate(document))


def _number(value: object) -> dict[str, object]:
    return {"type": "scalar", "value": value}


def test_a_workload_that_fits_has_its_sizes() -> None:
    assert fits(0) == {"m": 0, "n": 8}
    assert fits(4, s={"type": "random"}) == {"m": 4, "n": 8}


@pytest.mark.parametrize(
    ("m", "inputs", "said"),
    [
        (3, {}, "workload w: scale requires m % 2 == 0"),
        (4, {"s": _number(-1.0)}, "workload w: scale requires s > 0"),
        (1 << 62, {}, "workload w: x would be"),
        (4, {"k": _number(300)}, "workload w: k: int8 holds -128 to 127, not 300"),
        (4, {"k": _number("nan")}, "workload w: k: nan is not of dtype int8"),
        (4, {"k": _number(True)}, "workload w: k: True is not of dtype int8"),
        (4, {"s": _number(1e5)}, "workload w: s: float16 is smaller than 100000"),
        (4, {"x": _number(1.0)}, "workload w: x: a number, instead of a tensor"),
        (4, {"z": _number(1.0)}, "workload w: z: scale has no such input"),
    ],
)
def test_one_that_does_not_is_told_by_name(m: int, inputs: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        fits(m, **inputs)
    assert caught.value.message.startswith(said)
