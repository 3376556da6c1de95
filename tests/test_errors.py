from __future__ import annotations

import pytest

from fictl.errors import FictlError, InvalidValue, SetupError, UsageError


@pytest.mark.parametrize(
    ("kind", "code"), [(FictlError, 1), (UsageError, 2), (InvalidValue, 2), (SetupError, 3)]
)
def test_each_kind_has_its_exit_code(kind, code):
    assert kind("what happened").exit_code == code


@pytest.mark.parametrize("kind", [FictlError, UsageError, InvalidValue, SetupError])
def test_every_kind_is_a_runtime_error(kind):
    assert issubclass(kind, RuntimeError)


def test_a_value_that_cannot_be_parsed_is_a_value_error_too():
    with pytest.raises(ValueError, match="what happened"):
        raise InvalidValue("what happened")


def test_the_text_has_message_and_hint():
    error = FictlError("what happened", "what to do")
    assert str(error) == "what happened\n  hint: what to do"
    assert (error.message, error.hint) == ("what happened", "what to do")


def test_without_a_hint_the_text_is_the_message():
    assert str(FictlError("what happened")) == "what happened"
