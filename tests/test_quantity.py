from __future__ import annotations

import pytest

from fictl.errors import InvalidValue
from fictl.quantity import counted, parse_age, parse_size, spell_age, spell_size, spell_time


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("0", 0),
        ("512", 512),
        ("1k", 1024),
        ("1.5M", 3 << 19),
        ("10 GB", 10 << 30),
        ("2GiB", 2 << 30),
        ("1T", 1 << 40),
    ],
)
def test_sizes(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "-1", "10X", "G", "1e3", "1,5M"])
def test_what_is_no_size_is_refused(text):
    with pytest.raises(InvalidValue, match=f"{text!r} is not a size"):
        parse_size(text)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("5m", 300), ("1.5h", 5400), ("30d", 2592000), ("1 W", 604800)],
)
def test_ages(text, seconds):
    assert parse_age(text) == seconds


@pytest.mark.parametrize("text", ["", "30", "d", "-1d", "1y"])
def test_what_is_no_age_is_refused(text):
    with pytest.raises(InvalidValue, match=f"{text!r} is not an age"):
        parse_age(text)


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (150 << 10, "150 KiB"), (5 << 40, "5.0 TiB")],
)
def test_sizes_for_people(size, text):
    assert spell_size(size) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(-5, "0 s"), (59, "59 s"), (61, "1 m"), (7200, "2 h"), (90000, "1 d")]
)
def test_ages_for_people(seconds, text):
    assert spell_age(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0.00 us"),
        (2.553e-6, "2.55 us"),
        (65.12e-6, "65.1 us"),
        (0.0012, "1.20 ms"),
        (2.5, "2.50 s"),
    ],
)
def test_durations_as_people_write_them(seconds, text):
    assert spell_time(seconds) == text


@pytest.mark.parametrize(("number", "words"), [(0, "0 ops"), (1, "1 op"), (2, "2 ops")])
def test_things_are_counted(number: int, words: str) -> None:
    assert counted(number, "op") == words
