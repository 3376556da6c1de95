"""What a file system refuses, said in words."""

from __future__ import annotations

import errno
import os

import pytest

from fictl.errors import SetupError
from fictl.jit.store.writing import writing


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        (errno.ENOSPC, "free some space"),
        (errno.EDQUOT, "quota"),
        (errno.EROFS, "that you can write"),
        (errno.EACCES, "that you can write"),
        (errno.EPERM, "that you can write"),
        (errno.ENOTDIR, "a file is where a folder should be"),
    ],
)
def test_a_refusal_names_the_folder_the_reason_and_the_way_out(tmp_path, code, hint):
    with pytest.raises(SetupError) as caught, writing(tmp_path):
        raise OSError(code, os.strerror(code))
    assert caught.value.message == f"cannot write to the cache at {tmp_path}: {os.strerror(code)}"
    assert hint in caught.value.hint
    assert "FICTL_WORKSPACE_BASE" in caught.value.hint


def test_another_error_of_the_system_is_passed_on(tmp_path):
    with pytest.raises(FileNotFoundError), writing(tmp_path):
        raise FileNotFoundError(errno.ENOENT, "x")


def test_an_error_of_another_kind_is_passed_on(tmp_path):
    with pytest.raises(KeyError), writing(tmp_path):
        raise KeyError("x")
