from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fictl.gpu_lock import holder
from fictl.gpu_lock.holder import holders, in_words
from fictl.gpu_lock.lock_file import LockFile


def test_the_kernel_names_who_holds_it(locks: Path) -> None:
    mine, other = LockFile(locks, "aa"), LockFile(locks, "aa")
    assert holders(other.handle) == []
    assert mine.take(shared=False)
    assert holders(other.handle) == [os.getpid()]
    assert f"(pid {os.getpid()}, user " in in_words(other.handle)
    mine.close()
    other.close()


def test_the_command_is_shown_as_its_user_typed_it(locks: Path) -> None:
    code = """
import sys, time
from pathlib import Path
from fictl.gpu_lock.lock_file import LockFile
lock = LockFile(Path(sys.argv.pop()), "aa")
print(lock.take(shared=False), flush=True)
sys.stdin.read()
"""
    program = locks / "fictl"
    program.write_text(code)
    words = ["bench", "rmsnorm", "\x1b[31m", "--token=hf_abcdefghijklmnopqrstuvwxyz123456", locks]
    argv = [sys.executable, program, *map(str, words)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as popen:
        assert popen.stdout is not None
        assert popen.stdout.readline() == b"True\n"
        lock = LockFile(locks, "aa")
        text = in_words(lock.handle)
        lock.close()
        assert popen.stdin is not None
        popen.stdin.close()
    assert text.startswith("fictl bench rmsnorm ")
    assert "\x1b" not in text
    assert "abcdefghijklmnop" not in text


def test_a_holder_that_nobody_can_see_is_said(locks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(holder, "_LOCKS", locks / "nothing")
    lock = LockFile(locks, "aa")
    assert in_words(lock.handle) == (
        "a process that cannot be seen from here, as of another container"
    )
    lock.close()
