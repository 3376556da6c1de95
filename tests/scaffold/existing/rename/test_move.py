from __future__ import annotations

from pathlib import Path

from fictl.scaffold.existing.rename.move import Move


def test_a_file_that_moves_is_shown_by_what_changes_in_it(tmp_path: Path) -> None:
    old, new, user = tmp_path / "old.py", tmp_path / "new.py", tmp_path / "user.py"
    old.write_text("x = 1\nold = 2\n")
    user.write_text("import old")
    files = {old: None, new: "x = 1\nnew = 2\n", user: "import new"}
    assert Move(tmp_path, files, origins={new: old}).diff() == (
        "diff --git a/old.py b/new.py\nrename from old.py\nrename to new.py\n"
        "--- a/old.py\n+++ b/new.py\n@@ -1,2 +1,2 @@\n x = 1\n-old = 2\n+new = 2\n"
        "diff --git a/user.py b/user.py\n--- a/user.py\n+++ b/user.py\n@@ -1 +1 @@\n"
        "-import old\n\\ No newline at end of file\n+import new\n\\ No newline at end of file\n"
    )


def test_a_file_that_moves_as_it_is_needs_no_lines(tmp_path: Path) -> None:
    old, new = tmp_path / "old.py", tmp_path / "new.py"
    old.write_text("x = 1\n")
    plan = Move(tmp_path, {old: None, new: "x = 1\n"}, origins={new: old})
    assert plan.diff() == "diff --git a/old.py b/new.py\nrename from old.py\nrename to new.py\n"
