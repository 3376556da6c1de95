"""The newest two builds of one kind: what changed between them and what it cost."""

from __future__ import annotations

import pytest

from fictl.jit.build_time.last_edit import LastEdit, last_edit
from fictl.jit.store.entry import Entry
from fictl.jit.store.stores import writable_store


@pytest.fixture
def build(fake_build):
    """A build of `answer` in the cache, at a time."""

    def make(created: float, **changes: object) -> Entry:
        folder = writable_store().recipe_dir("local", "answer", f"r{created}") / "b"
        return fake_build(folder, created=created, **changes)

    return make


def test_it_is_what_differs_and_what_was_compiled_again(build) -> None:
    build(1.0, inputs={"a.cu": "1", "b.cpp": "1", "old.h": "1"}, units={"a.o": 4.0, "b.o": 2.0})
    now = build(
        2.0,
        inputs={"a.cu": "2", "b.cpp": "1", "<new.h>": "1"},
        seconds=3.5,
        units={"a.o": 3.0, "module.so": 0.25},
    )
    assert last_edit(now) == LastEdit(
        when=2.0, changed=("<new.h>", "a.cu", "old.h"), units={"a.o": 3.0}, link=0.25, seconds=3.5
    )


def test_a_first_build_has_no_edit_before_it(build) -> None:
    assert last_edit(build(1.0, inputs={"a.cu": "1"})) is None


def test_the_same_text_built_again_is_no_edit(build) -> None:
    build(1.0, inputs={"a.cu": "1"})
    assert last_edit(build(2.0, inputs={"a.cu": "1"})) is None


def test_of_several_edits_it_is_the_newest(build) -> None:
    for text in ("1", "2", "3"):
        now = build(float(text), inputs={"a.cu": text, "b.cpp": str(text == "1")})
    edit = last_edit(now)
    assert edit is not None
    assert edit.changed == ("a.cu",)


@pytest.mark.parametrize(
    "other", [{"variant": "debug"}, {"archs": ("9.0a",)}, {"parameters": {"dim": 64}}]
)
def test_a_build_of_another_kind_is_no_edit(build, other: dict[str, object]) -> None:
    build(1.0, inputs={"a.cu": "1"}, **other)
    now = build(2.0, inputs={"a.cu": "2"})
    build(3.0, inputs={"a.cu": "3"}, **other)
    assert last_edit(now) is None


def test_a_build_in_a_read_only_store_has_no_past(fake_build, tmp_path) -> None:
    assert last_edit(fake_build(tmp_path / "store" / "r" / "b")) is None
