from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from fictl.scaffold.existing.upgrade.merge import lines_of, marks_in, merge

BASE = "".join(f"line {n}\n" for n in range(8))


def changed(text: str, **lines: str) -> str:
    """`n3="x"`: line 3 is x now; an empty one is deleted."""
    there = lines_of(text)
    for name, line in lines.items():
        there[int(name[1:])] = line and f"{line}\n"
    return "".join(there)


def test_changes_of_both_sides_are_in_it() -> None:
    merged = merge(BASE, changed(BASE, n1="mine"), changed(BASE, n6="theirs"), "new")
    assert merged.text == changed(BASE, n1="mine", n6="theirs")
    assert not merged.conflicts


def test_the_same_change_of_both_sides_is_one() -> None:
    both = changed(BASE, n3="same", n5="")
    assert merge(BASE, both, both, "new").text == both


def test_both_changed_the_same_line() -> None:
    mine = changed(BASE, n3="mine")
    merged = merge(BASE, mine, changed(BASE, n3="theirs"), "fictl 2")
    block = "<<<<<<< yours\nmine\n=======\ntheirs\n>>>>>>> fictl 2\n"
    assert merged.text == BASE.replace("line 3\n", block)
    assert merged.conflicts == (4,)
    assert marks_in(merged.text) == [4]


def test_lines_that_both_have_are_not_in_the_conflict() -> None:
    mine, now = changed(BASE, n3="both\nmine\nend"), changed(BASE, n3="both\ntheirs\nend")
    text = merge(BASE, mine, now, "new").text
    assert "both\n<<<<<<< yours\nmine\n=======\ntheirs\n>>>>>>> new\nend\n" in text


def test_a_deleted_line_that_the_other_changed_is_a_conflict() -> None:
    merged = merge(BASE, changed(BASE, n3=""), changed(BASE, n3="theirs"), "new")
    assert "<<<<<<< yours\n=======\ntheirs\n" in merged.text


def test_a_text_of_both_that_was_not_there_is_one_conflict() -> None:
    assert merge("", "a\n", "b\n", "new").conflicts == (1,)


@pytest.mark.parametrize("end", ["", "\n"])
def test_the_end_of_the_file_is_as_its_author_left_it(end: str) -> None:
    mine = BASE[:-1] + end
    assert merge(BASE, mine, changed(BASE, n1="theirs"), "new").text == changed(mine, n1="theirs")


def test_a_conflict_at_an_end_without_a_newline_has_its_marks_on_lines_of_their_own() -> None:
    merged = merge("a\nb", "a\nmine", "a\ntheirs", "new")
    assert merged.text == "a\n<<<<<<< yours\nmine\n=======\ntheirs\n>>>>>>> new\n"


def test_crlf_stays() -> None:
    mine = changed(BASE, n1="mine").replace("\n", "\r\n")
    merged = merge(BASE, mine, changed(BASE, n6="theirs", n3="x"), "new")
    assert merged.text == changed(BASE, n1="mine", n6="theirs", n3="x").replace("\n", "\r\n")
    conflict = merge(BASE, mine, changed(BASE, n1="theirs"), "new")
    assert conflict.text.count("\r\n") == conflict.text.count("\n")
    assert marks_in(conflict.text) == [2]


def test_one_crlf_among_others_is_a_change_of_that_line() -> None:
    mine = BASE.replace("line 2\n", "line 2\r\n")
    assert "line 2\r\n" in merge(BASE, mine, changed(BASE, n6="theirs"), "new").text


@pytest.mark.parametrize("separator", ["\x0c", "\u2028", "\x85", "\r"])
def test_only_a_line_feed_ends_a_line(separator: str) -> None:
    mine = changed(BASE, n1=f"one{separator}line")
    assert merge(BASE, mine, changed(BASE, n6="theirs"), "new").text == changed(mine, n6="theirs")


def test_marks_that_are_no_conflict_are_text() -> None:
    assert marks_in("Title\n=======\n") == []
    assert marks_in(">>>>>>> a\n=======\n<<<<<<< b\n") == []
    assert marks_in("x = 1 <<<<<<< y\n=======\n>>>>>>> z\n") == []


def _edited(lines: list[str], rng: random.Random, side: str) -> list[str]:
    edited = []
    for number, line in enumerate(lines):
        roll = rng.random()
        if roll < 0.06:
            continue
        edited.append(f"{side}{number}\n" if roll < 0.12 else line)
        if roll > 0.94:
            edited.append(f"{side}+{number}\n")
    return edited


def test_no_line_of_either_side_is_lost_and_none_is_invented() -> None:
    rng = random.Random(7)
    for _ in range(200):
        base = [f"{rng.randrange(6)}\n" for _ in range(30)]
        mine, now = _edited(base, rng, "m"), _edited(base, rng, "n")
        text = merge("".join(base), "".join(mine), "".join(now), "new").text
        there = lines_of(text)
        assert [line for line in there if line[0] == "m"] == [x for x in mine if x[0] == "m"]
        assert [line for line in there if line[0] == "n"] == [x for x in now if x[0] == "n"]
        assert {*there} <= {*mine, *now, "<<<<<<< yours\n", "=======\n", ">>>>>>> new\n"}


def test_it_merges_as_git_does_where_lines_are_unlike(tmp_path: Path) -> None:
    rng = random.Random(3)
    for _ in range(12):
        base = [f"line {n}\n" for n in range(40)]
        texts = ["".join(t) for t in (_edited(base, rng, "m"), base, _edited(base, rng, "n"))]
        for name, text in zip("mbn", texts, strict=True):
            (tmp_path / name).write_text(text)
        words = ["git", "merge-file", "-p", "-L", "yours", "-L", "b", "-L", "new", "m", "b", "n"]
        git = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
        merged = merge(texts[1], texts[0], texts[2], "new")
        assert bool(merged.conflicts) == bool(git.returncode)
        if not git.returncode:
            assert merged.text == git.stdout
