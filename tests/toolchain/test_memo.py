from __future__ import annotations

import os
from pathlib import Path

import pytest

from fictl import paths
from fictl.toolchain import memo


@pytest.fixture
def program(tmp_path: Path) -> tuple[str]:
    file = tmp_path / "tool"
    file.write_text("#!/bin/sh\n")
    return (str(file),)


def test_an_unknown_program_has_no_answers(program):
    assert memo.recall(program) == {}


def test_answers_outlive_the_process(program):
    memo.remember(program, version="1")
    memo.forget()
    assert memo.recall(program) == {"version": "1"}


def test_answers_add_up(program):
    memo.remember(program, version="1")
    memo.remember(program, targets={"90": True})
    assert memo.recall(program) == {"version": "1", "targets": {"90": True}}


def test_a_changed_program_is_unknown_again(program):
    memo.remember(program, version="1")
    Path(program[0]).write_text("#!/bin/sh\nexit 1\n")
    assert memo.recall(program) == {}


def test_a_program_that_was_replaced_by_one_with_the_old_mtime_is_unknown_again(program):
    memo.remember(program, version="1")
    file, old = Path(program[0]), os.stat(program[0])
    file.with_name("new").write_text("#!/bin/zh\n")
    os.replace(file.with_name("new"), file)
    os.utime(file, ns=(old.st_atime_ns, old.st_mtime_ns))
    assert memo.recall(program) == {}


def test_flags_are_part_of_what_was_asked(program):
    memo.remember((*program, "-m32"), version="1")
    assert memo.recall((*program, "-m64")) == {}


def test_a_change_behind_a_launcher_counts(program, tmp_path):
    launcher = tmp_path / "ccache"
    launcher.touch()
    memo.remember((str(launcher), *program), version="1")
    Path(program[0]).write_text("changed")
    assert memo.recall((str(launcher), *program)) == {}


def test_what_another_process_added_meanwhile_is_kept(program, tmp_path):
    other = tmp_path / "other"
    other.touch()
    memo.recall(program)
    ours = dict(memo._loaded)
    memo.remember((str(other),), version="2")
    memo._loaded.clear()
    memo._loaded.update({file: {} for file in ours})
    memo.remember(program, version="1")
    memo.forget()
    assert memo.recall((str(other),)) == {"version": "2"}


def test_a_cache_that_cannot_be_written_is_remembered_in_the_process(program, tmp_path):
    (tmp_path / "workspace").write_text("a file where the cache's folder should be")
    memo.remember(program, version="1")
    assert memo.recall(program) == {"version": "1"}


@pytest.mark.parametrize("text", ["", "{", "[]", "null"])
def test_a_damaged_file_is_ignored(program, text):
    memo.remember(program, version="1")
    (paths.cache_root() / "v1" / ".memo" / "compilers.json").write_text(text)
    memo.forget()
    assert memo.recall(program) == {}


def test_a_file_that_others_can_write_is_not_believed(program):
    memo.remember(program, version="1")
    (paths.cache_root() / "v1" / ".memo" / "compilers.json").chmod(0o666)
    memo.forget()
    assert memo.recall(program) == {}


def test_the_folders_are_the_users_alone(program):
    memo.remember(program, version="1")
    for folder in (paths.cache_root(), paths.cache_root() / "v1", paths.cache_root() / "v1/.memo"):
        assert folder.stat().st_mode & 0o777 == 0o700
