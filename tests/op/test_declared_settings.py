from __future__ import annotations

from typing import Any

import pytest
import torch

from fictl.errors import InvalidValue, UsageError
from fictl.op import op, setting


@pytest.fixture(autouse=True)
def emulated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FICTL_DEVICE", "emu")


def forced() -> Any:
    @op(
        backends={"fast": ">=10.0", "slow": ">=8.0", "old": ">=7.5"},
        settings={"FICTL_FORCED_BACKEND": "the backend of forced", "FICTL_FORCED_ALGO": "how"},
        dtypes="f32",
        mutates="",
    )
    def forced(q: Any, backend: str = "auto") -> str:
        return backend

    return forced


def test_a_declared_setting_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    forced()
    assert setting("FICTL_FORCED_ALGO") == ""
    monkeypatch.setenv("FICTL_FORCED_ALGO", " radix ")
    assert setting("FICTL_FORCED_ALGO") == "radix"


def test_a_setting_that_no_op_declares_is_an_error() -> None:
    with pytest.raises(UsageError, match="declares the setting 'FICTL_NOBODYS'"):
        setting("FICTL_NOBODYS")


def test_it_forces_the_backend_that_auto_means(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FICTL_FORCED_BACKEND", "old")
    function = forced()
    assert [function(torch.zeros(3)), function(torch.zeros(3), "slow")] == ["old", "slow"]


@pytest.mark.parametrize("value", ["", "auto"])
def test_left_empty_it_forces_nothing(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("FICTL_FORCED_BACKEND", value)
    assert forced()(torch.zeros(3)) == "slow"


def test_what_it_forces_is_checked_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FICTL_FORCED_BACKEND", "fast")
    with pytest.raises(ValueError, match=r"'fast' \(forced by FICTL_FORCED_BACKEND\): runs on"):
        forced()(torch.zeros(3))


def test_a_value_that_is_no_backend_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FICTL_FORCED_BACKEND", "quick")
    with pytest.raises(InvalidValue, match=r"FICTL_FORCED_BACKEND='quick'(.|\n)*fast, slow, old"):
        forced()(torch.zeros(3))
