from __future__ import annotations

import json
from typing import Any

import pytest
import torch

from fictl.op import op
from fictl.ops import scale


@op(
    backends={"sm100": "10.0a", "sm80": ">=8.0"},
    checks={"sm80": lambda q: q.shape[-1] <= 256 or "head_dim is above 256"},
    dtypes="f32",
    mutates="",
)
def attend(q: Any, backend: str = "auto") -> Any:
    return backend


@pytest.fixture(autouse=True)
def emulated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FICTL_DEVICE", "emu")


def test_every_backend_has_a_verdict() -> None:
    found = attend.explain(torch.zeros(2, 64))  # type: ignore[attr-defined]
    assert str(found).splitlines() == [
        "attend runs sm80 on the emulated device (9.0): the first of those that can",
        "  ✗ sm100  runs on 10.0a, and the emulated device is 9.0",
        "  ✓ sm80",
    ]


def test_what_would_be_refused_is_said_and_not_raised() -> None:
    found = attend.explain(torch.zeros(2, 512))  # type: ignore[attr-defined]
    assert (found.runs, found.backend) == (False, "")
    assert "head_dim is above 256" in str(found)


def test_a_backend_asked_for_is_compared_with_the_others() -> None:
    found = attend.explain(torch.zeros(2, 64), backend="sm100")  # type: ignore[attr-defined]
    assert str(found).startswith("attend: backend 'sm100' does not run this call on the emulated")
    assert [each.accepted for each in found.verdicts] == [False, True]


def test_it_is_json() -> None:
    found = attend.explain(torch.zeros(2, 64)).to_dict()  # type: ignore[attr-defined]
    assert json.loads(json.dumps(found))["backends"][0]["backend"] == "sm100"


def test_an_op_without_backends_explains_where_it_runs() -> None:
    assert str(scale.explain(torch.zeros(4), 2.0)) == "scale runs on the emulated device (9.0)"  # type: ignore[attr-defined]
    assert scale.is_compute_capability_supported(75)  # type: ignore[attr-defined]


def test_a_wrong_device_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FICTL_DEVICE")
    assert "does not run: scale: argument 'input' is on cpu" in str(
        scale.explain(torch.zeros(4), 2.0)  # type: ignore[attr-defined]
    )
