from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from fictl.errors import UsageError
from fictl.scaffold.existing.upgrade.op_upgrade import OpUpgrade
from fictl.scaffold.existing.upgrade.upgrade import examine
from fictl.scaffold.plan.undo import take_back
from fictl.scaffold.record import FILE, place, read_record

from .conftest import HERE, OP, TEMPLATE, TEST, Scaffolded

NOW = OP.replace("FIVE = 5", "FIVE = 55")


def change(path: Path, old: str, new: str) -> None:
    text = path.read_bytes().decode()
    assert old in text
    path.write_bytes(text.replace(old, new).encode())


def changes(upgrade: OpUpgrade) -> dict[str, str]:
    return {file.path.name: file.change for file in upgrade.files}


def test_an_op_is_as_the_scaffold_writes_it_after_new_op(scaffolded: Scaffolded) -> None:
    assert scaffolded.now().status == "current"


def test_what_changed_in_a_template_comes_into_the_op_once(scaffolded: Scaffolded) -> None:
    assert changes(scaffolded.upgrade(op=NOW)) == {"op.py": "changed"}
    assert "FIVE = 55" in scaffolded.folder.op.read_text()
    assert scaffolded.now(op=NOW).status == "current"


def test_changes_of_its_author_stay(scaffolded: Scaffolded) -> None:
    change(scaffolded.folder.op, "ONE = 1", "ONE = 11")
    assert changes(scaffolded.upgrade(op=NOW)) == {"op.py": "merged"}
    text = scaffolded.folder.op.read_text()
    assert "ONE = 11" in text
    assert "FIVE = 55" in text


def test_a_conflict_is_marked_and_has_to_be_resolved_before_the_next(
    scaffolded: Scaffolded,
) -> None:
    change(scaffolded.folder.op, "FIVE = 5", "FIVE = 6")
    upgrade = scaffolded.upgrade(op=NOW)
    assert (upgrade.status, upgrade.conflicts) == ("conflict", 1)
    assert "<<<<<<< yours\nFIVE = 6\n=======\nFIVE = 55\n>>>>>>> fictl " in (
        scaffolded.folder.op.read_text()
    )
    again = scaffolded.now(op=NOW)
    assert again.status == "refused"
    assert "kernels/mine/twice/op.py:9" in str(again.error)


def test_files_of_the_template_come_and_go(scaffolded: Scaffolded) -> None:
    upgrade = scaffolded.upgrade(bench="", trace="TRACE = 1\n")
    assert changes(upgrade) == {"bench.py": "gone", "trace.py": "new"}
    assert not scaffolded.folder.bench.exists()
    assert scaffolded.folder.trace.read_text() == "TRACE = 1\n"


def test_a_file_that_goes_stays_where_its_author_changed_it(scaffolded: Scaffolded) -> None:
    change(scaffolded.folder.bench, "CASES = ()", "CASES = (1,)")
    assert changes(scaffolded.upgrade(bench="")) == {"bench.py": "kept"}
    assert scaffolded.folder.bench.read_text() == "CASES = (1,)\n"
    assert scaffolded.now(bench="").status == "current"


def test_a_file_that_its_author_deleted_does_not_come_back(scaffolded: Scaffolded) -> None:
    scaffolded.folder.bench.unlink()
    assert changes(scaffolded.upgrade(bench="CASES = (2,)\n")) == {"bench.py": "left"}
    assert not scaffolded.folder.bench.exists()
    assert scaffolded.now(bench="CASES = (2,)\n").status == "current"


def test_a_file_that_its_author_renamed_is_changed_there(scaffolded: Scaffolded) -> None:
    scaffolded.folder.op.rename(scaffolded.folder.path / "public.py")
    assert changes(scaffolded.upgrade(op=NOW)) == {"public.py": "merged"}
    assert "FIVE = 55" in (scaffolded.folder.path / "public.py").read_text()
    assert not scaffolded.folder.op.exists()


def test_a_test_of_another_op_is_not_taken_for_a_renamed_one(scaffolded: Scaffolded) -> None:
    other = scaffolded.folder.path.parent / "twice_more"
    other.mkdir()
    (other / "op.py").write_text("")
    test = scaffolded.folder.test
    test.rename(test.with_name("test_twice_more.py"))
    scaffolded.template({**TEMPLATE, TEST: TEMPLATE[TEST].replace("pass", "return")})
    assert changes(examine(scaffolded.folder)) == {"test_twice.py": "left"}


def test_crlf_and_permissions_stay(scaffolded: Scaffolded) -> None:
    op = scaffolded.folder.op
    op.write_bytes(op.read_bytes().replace(b"ONE = 1", b"ONE = 11").replace(b"\n", b"\r\n"))
    op.chmod(0o755)
    scaffolded.upgrade(op=NOW)
    assert b"ONE = 11\r\n" in op.read_bytes()
    assert op.read_bytes().endswith(b"FIVE = 55\r\n")
    assert op.stat().st_mode & 0o777 == 0o755


def test_a_missing_newline_at_the_end_stays_missing(scaffolded: Scaffolded) -> None:
    op = scaffolded.folder.op
    op.write_bytes(op.read_bytes().rstrip(b"\n"))
    scaffolded.upgrade(op=OP.replace("ONE = 1", "ONE = 11"))
    assert op.read_text().endswith("FIVE = 5")
    assert "ONE = 11" in op.read_text()


def test_it_can_be_taken_back(scaffolded: Scaffolded) -> None:
    before = {p: p.read_bytes() for p in scaffolded.folder.path.iterdir()}
    change(scaffolded.folder.op, "ONE = 1", "ONE = 11")
    mine = scaffolded.folder.op.read_bytes()
    scaffolded.upgrade(op=NOW, bench="", trace="TRACE = 1\n")
    take_back(scaffolded.project.top)
    after = {p: p.read_bytes() for p in scaffolded.folder.path.iterdir()}
    assert after == {**before, scaffolded.folder.op: mine}


@pytest.mark.parametrize("what", ["file", "folder"])
def test_a_link_is_not_written_through(scaffolded: Scaffolded, tmp_path: Path, what: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    op = scaffolded.folder.test if what == "folder" else scaffolded.folder.op
    if what == "folder":
        op.parent.rename(elsewhere)
        op.parent.symlink_to(elsewhere)
    else:
        op.rename(elsewhere)
        op.symlink_to(elsewhere)
    scaffolded.template({**TEMPLATE, TEST: "NOW = 1\n", f"{HERE}/op.py": NOW})
    error = examine(scaffolded.folder).error
    assert isinstance(error, UsageError)
    assert f"is a link to {elsewhere}" in error.message


def test_a_file_that_is_no_text_is_refused_by_name(scaffolded: Scaffolded) -> None:
    scaffolded.folder.op.write_bytes(b"\xff\xfe")
    assert "op.py" in str(scaffolded.now(op=NOW).error)


def test_a_record_deletes_nothing_outside_of_its_op(scaffolded: Scaffolded) -> None:
    record = read_record(scaffolded.folder)
    assert record is not None
    config = scaffolded.project.root / "fictl.toml"
    files = {**record.files, "fictl.toml": config.read_text()}
    place(scaffolded.folder).write_text(replace(record, files=files).text())
    assert changes(scaffolded.upgrade()) == {"fictl.toml": "kept"}
    assert config.exists()


def test_an_op_without_a_record_is_refused_with_what_to_do(scaffolded: Scaffolded) -> None:
    os.unlink(scaffolded.folder.path / FILE)
    error = scaffolded.now(op=NOW).error
    assert isinstance(error, UsageError)
    assert "has no record of its scaffold" in error.message
    assert "--force" in error.hint


def test_the_record_stays_where_nothing_changed(scaffolded: Scaffolded) -> None:
    before = place(scaffolded.folder).read_text()
    assert not scaffolded.upgrade().is_behind
    assert place(scaffolded.folder).read_text() == before
