from __future__ import annotations

import pytest


def test_an_op_s_files_are_deleted_and_named(fictl, tiny) -> None:
    answer = fictl("remove-op", "twice")
    assert answer.code == 0, answer.err
    assert answer.out.splitlines() == [
        "  kernels/include/tiny/elementwise/  twice.cuh",
        "  kernels/elementwise/twice/  launcher.cu binding.cpp jit.py op.py trace.py bench.py",
        "  tests/kernels/elementwise/  test_twice.py",
        "  8 files deleted · fictl new-op --undo brings them back",
    ]
    assert [path.name for path in tiny.iterdir()] == ["fictl.toml"]


def test_they_come_back(fictl, tiny) -> None:
    fictl("remove-op", "twice")
    assert fictl("new-op", "--undo").code == 0
    assert fictl("check").code == 0
    assert (tiny / "kernels/elementwise/twice/op.py").is_file()


@pytest.mark.parametrize("flag", ["--dry-run", "--diff"])
def test_to_look_deletes_nothing(fictl, tiny, flag: str) -> None:
    answer = fictl("remove-op", "twice", flag)
    assert answer.code == 0
    assert "twice.cuh" in answer.out
    assert (tiny / "kernels/elementwise/twice/op.py").is_file()


def test_it_is_data_too(fictl, tiny) -> None:
    data = fictl("remove-op", "twice", "--json").document["data"]
    assert (data["op"], data["written"]) == ("tiny/elementwise/twice", True)
    assert {each["change"] for each in data["files"]} == {"gone"}


def test_a_file_that_nobody_knows_needs_force(fictl, tiny) -> None:
    (tiny / "kernels/elementwise/twice/notes.md").write_text("")
    answer = fictl("remove-op", "twice")
    assert answer.code == 2
    assert "notes.md" in answer.err
    assert fictl("remove-op", "twice", "--force").code == 0
    assert not (tiny / "kernels/elementwise/twice").exists()


def test_an_op_of_fictl_s_is_not_deleted_from_elsewhere(fictl, tiny) -> None:
    answer = fictl("remove-op", "scale", "--dry-run")
    assert answer.code == 2
    assert "there is no op 'scale'" in answer.err
