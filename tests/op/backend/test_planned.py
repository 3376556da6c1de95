"""Backends that plan() chooses: by words, facts and devices, with reasons."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from fictl.errors import InvalidValue, UsageError
from fictl.op import BackendRefused, PlannedBackends

CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def emulated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FICTL_DEVICE", "emu")


def small(group: int) -> bool | str:
    return group <= 3 or f"{group} heads to one of the keys"


def backends(**changes: Any) -> PlannedBackends:
    arguments: dict[str, Any] = {
        "backends": {"blackwell": "10.0a", "tensor": ">=8.0", "cuda": ""},
        "facts": ("group",),
        "checks": {"cuda": small},
        "names": {"fa2": ("cuda", "tensor"), "fa3": ("blackwell",)},
        "why": {"cuda": "as asked for"},
    }
    return PlannedBackends(**{**arguments, **changes})


def test_auto_is_the_first_that_runs_here() -> None:
    choice = backends().choose("Decode", CPU, "auto", 1)
    assert choice.backend == "tensor"
    assert choice.why == "backend='auto', runs on 10.0a, and the emulated device is 9.0"


def test_a_word_stands_for_several_backends() -> None:
    choose = backends().choose
    assert choose("Decode", CPU, "fa2", 2) == ("cuda", "backend='fa2'")
    why = "backend='fa2', 4 heads to one of the keys"
    assert choose("Decode", CPU, "fa2", 4) == ("tensor", why)


def test_a_backend_may_be_asked_for_by_its_own_name() -> None:
    assert backends().choose("Decode", CPU, "cuda", 1) == ("cuda", "as asked for")
    with pytest.raises(BackendRefused, match=r"'cuda' \(as asked for.*4 heads to one"):
        backends().choose("Decode", CPU, "cuda", 4)


def test_where_none_runs_the_reasons_are_in_the_error() -> None:
    with pytest.raises(
        BackendRefused, match=r"'blackwell' .*runs on 10.0a, and the emulated device is"
    ):
        backends().choose("Decode", CPU, "fa3", 1)


def test_an_unknown_word_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(InvalidValue, match="Decode: unknown backend 'cudnn'") as caught:
        backends().choose("Decode", CPU, "cudnn", 1)
    assert caught.value.hint == "one of blackwell, tensor, cuda, fa2, fa3 or auto"


def test_words_for_users_are_listed() -> None:
    assert backends().words == ("auto", "fa2", "fa3")


def test_a_choice_is_made_once_for_the_same_facts() -> None:
    groups = []

    def watching(group: int) -> bool:
        groups.append(group)
        return True

    choose = backends(checks={"cuda": watching}).choose
    for group in (1, 1, 2, 1):
        choose("Decode", CPU, "fa2", group)
    assert groups == [1, 2]


def test_every_backend_that_a_word_stands_for_has_a_verdict() -> None:
    explanation = backends().explain("Decode", CPU, "auto", 9)
    assert [verdict.backend for verdict in explanation.verdicts] == ["blackwell", "tensor", "cuda"]
    assert explanation.suitable == ("tensor",)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"checks": {"sm75": small}}, InvalidValue, "checks of sm75, which is not a backend"),
        ({"names": {"fa4": ("sm100",)}}, InvalidValue, "names of sm100, which is not a backend"),
        ({"facts": ()}, UsageError, "small takes 'group', cuda does not"),
    ],
)
def test_a_wrong_declaration_is_refused(
    changes: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        backends(**changes)
