from __future__ import annotations

import pytest

from fictl.errors import InvalidValue
from fictl.settings_file import read


def test_a_file_that_is_not_there_says_nothing(tmp_path):
    assert read(tmp_path / "none.toml").values == {}


def test_a_file_below_a_file_says_nothing(tmp_path):
    (tmp_path / "file").touch()
    assert read(tmp_path / "file" / "settings.toml").values == {}


@pytest.mark.parametrize(
    ("line", "kind", "text"),
    [
        ("x = true", "bool", "true"),
        ("x = 4", "int", "4"),
        ("x = 'a b'", "text", "a b"),
        ("x = ['-DA=b c', '-O1']", "words", "'-DA=b c' -O1"),
        ("x = ['/a', '/b']", "paths", "/a:/b"),
        ("x = ['8.0', '9.0a']", "list", "8.0 9.0a"),
        ("X = 4", "int", "4"),
        ("", "int", ""),
    ],
)
def test_values_become_what_the_environment_would_say(settings_toml, line, kind, text):
    assert read(settings_toml(line)).text("FICTL_X", kind) == text


@pytest.mark.parametrize("value", ["1.5", "{a = 1}", "[1, 2]", "1979-05-27"])
def test_other_kinds_of_value_are_refused_with_their_line(settings_toml, value):
    path = settings_toml(f"\nx = {value}\n")
    with pytest.raises(InvalidValue) as caught:
        read(path).text("FICTL_X", "int")
    assert caught.value.message.startswith(f"{path}:2: x = ")


@pytest.mark.parametrize(("text", "line"), [("a = 1\nb =\n", 2), ("a = 'open", 1)])
def test_a_malformed_file_names_its_line(settings_toml, text, line):
    path = settings_toml(text)
    with pytest.raises(InvalidValue) as caught:
        read(path)
    assert caught.value.message.startswith(f"{path}:{line}: not valid TOML")


def test_a_file_of_other_bytes_is_refused(tmp_path):
    path = tmp_path / "latin.toml"
    path.write_bytes(b"x = '\xe9'")
    with pytest.raises(InvalidValue, match="UTF-8"):
        read(path)


def test_a_folder_in_its_place_is_refused(tmp_path):
    with pytest.raises(InvalidValue, match="cannot be read: Is a directory"):
        read(tmp_path)
