from __future__ import annotations

from pathlib import Path

import pytest

from fictl.errors import UsageError
from fictl.scaffold.existing.upgrade.file_upgrade import FileTexts, FileUpgrade, upgraded

PATH = Path("/p/op.py")
FIRST = "a\nb\nc\nd\ne\nf\n"
NOW = FIRST.replace("f", "F")
MINE = FIRST.replace("a", "mine")


def of(first: str | None, now: str | None, mine: str | None, **others: str) -> FileUpgrade:
    texts = FileTexts((first,) if first is not None else (), now, mine)
    beside = {PATH.with_name(f"{name}.py"): text for name, text in others.items()}
    return upgraded(PATH, texts, beside, "fictl 2")


@pytest.mark.parametrize(
    ("first", "now", "mine", "change", "text"),
    [
        (FIRST, NOW, FIRST, "changed", NOW),
        (FIRST, NOW, FIRST.replace("\n", "\r\n"), "changed", NOW.replace("\n", "\r\n")),
        (FIRST, NOW, MINE, "merged", NOW.replace("a", "mine")),
        (FIRST, NOW, NOW, "kept", None),
        (FIRST, NOW, None, "left", None),
        (FIRST, None, FIRST, "gone", None),
        (FIRST, None, MINE, "kept", None),
        (FIRST, None, None, "left", None),
        (None, NOW, None, "new", NOW),
        (None, NOW, NOW, "kept", None),
    ],
)
def test_what_becomes_of_a_file(first, now, mine, change: str, text: str | None) -> None:
    upgrade = of(first, now, mine)
    assert (upgrade.change, upgrade.text) == (change, text)
    assert upgrade.path == PATH
    assert upgrade.writes == (change in ("changed", "merged", "new", "gone"))
    assert upgrade.described()


def test_a_formatted_file_is_untouched_too() -> None:
    texts = FileTexts((FIRST, FIRST.upper()), NOW, FIRST.upper())
    assert upgraded(PATH, texts, {}, "fictl 2").change == "changed"


def test_a_file_of_the_users_where_the_scaffold_has_a_new_one_is_a_conflict() -> None:
    upgrade = of(None, "theirs\n", "mine\n")
    assert upgrade.change == "conflict"
    assert "mine\n=======\ntheirs" in (upgrade.text or "")
    assert upgrade.described() == "1 conflict, in line 1"


def test_a_renamed_file_is_merged_where_it_is() -> None:
    upgrade = of(FIRST, NOW, None, other="x\ny\n", renamed=MINE)
    assert upgrade.path.name == "renamed.py"
    assert upgrade.text == NOW.replace("a", "mine")
    assert upgrade.described() == "both changes are in it (was op.py)"


def test_an_unlike_file_is_not_taken_for_it() -> None:
    assert of(FIRST, NOW, None, other="x\ny\nz\n").change == "left"


def test_a_file_that_is_too_long_is_refused_by_name() -> None:
    with pytest.raises(UsageError, match=r"/p/op\.py has more than 10000 lines"):
        of(FIRST, NOW, "x\n" * 10_001)
