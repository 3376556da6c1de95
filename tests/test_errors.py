from __future__ import annotations

import pickle
import re
from pathlib import Path

import pytest

import fictl
from fictl.errors import (
    CODES,
    FictlError,
    InvalidValue,
    MissingFile,
    SetupError,
    UsageError,
    WrongType,
    from_exit_code,
    unreadable,
)


@pytest.mark.parametrize(
    ("kind", "code"), [(FictlError, 1), (UsageError, 2), (InvalidValue, 2), (SetupError, 3)]
)
def test_each_kind_has_its_exit_code(kind, code):
    assert kind("what happened").exit_code == code


@pytest.mark.parametrize(
    ("kind", "builtin"),
    [
        (UsageError, ValueError),
        (InvalidValue, ValueError),
        (WrongType, ValueError),
        (WrongType, TypeError),
        (MissingFile, ValueError),
        (MissingFile, FileNotFoundError),
    ],
)
def test_python_s_own_class_catches_it(kind, builtin):
    with pytest.raises(builtin) as caught:
        raise kind("what happened", "what to do")
    assert str(caught.value) == "what happened\n  hint: what to do"
    assert (caught.value.message, caught.value.exit_code) == ("what happened", 2)
    assert str(pickle.loads(pickle.dumps(caught.value)))


def test_what_the_machine_lacks_is_not_a_wrong_value():
    assert not issubclass(SetupError, ValueError)


@pytest.mark.parametrize(
    ("name", "missing"), [("nowhere", True), ("file/below", True), (".", False)]
)
def test_a_file_that_cannot_be_read_says_whether_it_is_missing(tmp_path, name, missing):
    (tmp_path / "file").touch()
    try:
        (tmp_path / name).read_bytes()
    except OSError as error:
        made = unreadable(tmp_path / name, error, "name another")
    assert isinstance(made, FileNotFoundError) is missing
    assert "cannot be read: " in made.message
    assert made.hint == "name another"


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


def test_every_code_of_an_error_is_in_the_list_and_every_listed_one_is_of_an_error():
    sources = "".join(path.read_text() for path in Path(fictl.__file__).parent.rglob("*.py"))
    assert set(re.findall(r'^(?:    |.*\.)code = "([a-z-]+)"$', sources, re.MULTILINE)) == set(
        CODES
    )


def test_an_error_keeps_its_code_from_process_to_process_and_no_other_text():
    assert from_exit_code(3, "what", "do", "gpu-busy").to_dict() == {
        "code": "gpu-busy",
        "message": "what",
        "hint": "do",
    }
    stranger = from_exit_code(2, "what", code="made up")
    assert (type(stranger), stranger.code) == (UsageError, "usage")
