"""What the last builds took."""

from __future__ import annotations

import pytest

from fictl.jit.store.history import BuildHistory


def test_nothing_is_known_before_the_first_build(tmp_path):
    assert BuildHistory.read(tmp_path) == BuildHistory()


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"seconds": 1, "peak_kib": 2}'])
def test_a_broken_file_is_as_good_as_none(tmp_path, text):
    (tmp_path / "history.json").write_text(text)
    assert BuildHistory.read(tmp_path) == BuildHistory()


def test_the_newest_times_and_the_largest_peak_are_kept(tmp_path):
    BuildHistory({"a.o": 3.0, "b.o": 1.0}, 500).write(tmp_path)
    BuildHistory.read(tmp_path).with_build({"a.o": 2.0}, 400).write(tmp_path)
    assert BuildHistory.read(tmp_path) == BuildHistory({"a.o": 2.0, "b.o": 1.0}, 500)


@pytest.mark.parametrize(
    ("objects", "jobs", "expected"),
    [
        (["a.o", "b.o"], 1, 4.5),  # one after the other, and the link
        (["a.o", "b.o"], 2, 3.5),  # as long as the longest
        (["a.o"], 2, 3.5),
        (["a.o", "new.o"], 2, 0.0),  # unknown
        ([], 2, 0.0),
    ],
)
def test_the_estimate_is_of_what_will_run(objects, jobs, expected):
    history = BuildHistory({"a.o": 3.0, "b.o": 1.0, "module.so": 0.5})
    assert history.estimate(objects, jobs) == expected
