"""GPUs held by real processes: alone, together, in one order, and by whom."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fictl.gpu_lock.hold import GpuBusy, held
from fictl.gpu_lock.visible import LockedGpu
from tests.gpu_lock.holders import NOBODY, needs_root

AA, BB = LockedGpu("aa", "0"), LockedGpu("bb", "1")


def test_a_gpu_in_use_is_said_at_once_where_nobody_waits(holder) -> None:
    other = holder("aa")
    assert other.line() == "held"
    used = f"GPU 0 is used by .*pid {other.popen.pid}, user "
    with pytest.raises(GpuBusy, match=used) as caught, held([AA], wait=0.0):
        pass
    assert caught.value.exit_code == 3
    assert "--wait" in caught.value.hint
    with held([BB], wait=0.0):
        pass


def test_a_wait_is_noted_once_and_ends_when_the_gpu_is_free(holder) -> None:
    first, second = holder("aa"), None
    assert first.line() == "held"
    second = holder("aa")
    note = second.line()
    assert note.startswith("GPU aa is used by ")
    assert note.endswith(": waiting for it")
    first.free()
    assert second.line() == "held"


def test_a_wait_ends_when_its_time_is_up(holder) -> None:
    assert holder("aa").line() == "held"
    start = time.monotonic()
    with pytest.raises(GpuBusy), held([AA], wait=0.5):
        pass
    assert 0.5 <= time.monotonic() - start < 30


def test_tests_share_what_a_measurement_has_alone(holder) -> None:
    one, two = holder("aa", shared=True), holder("aa", shared=True)
    assert one.line() == two.line() == "held"
    with pytest.raises(GpuBusy, match=r"pid \d+.*, .*pid \d+"), held([AA], wait=0.0):
        pass
    with held([AA], shared=True, wait=0.0):
        pass
    one.free()
    two.free()
    assert holder("aa").line() == "held"
    assert holder("aa", shared=True).line().startswith("GPU aa is used by")


def test_a_lock_is_freed_by_kill_9(holder) -> None:
    other = holder("aa,bb")
    assert other.line() == "held"
    other.popen.send_signal(signal.SIGKILL)
    other.popen.wait()
    with held([AA, BB], wait=0.0):
        pass


def test_who_waits_for_a_gpu_holds_none_of_a_higher_key(holder) -> None:
    """So that runs which name two GPUs in different orders never wait for each other."""
    first = holder("aa")
    assert first.line() == "held"
    for keys in ("bb,aa", "aa,bb"):
        assert holder(keys).line().startswith("GPU aa is used by")
    other = holder("bb")
    assert other.line() == "held"
    other.free()


def test_a_command_within_another_does_not_wait_for_it(locks: Path) -> None:
    """As `fictl demo` under a run that holds the GPU, and what a test starts."""
    code = """
import subprocess, sys
from fictl.gpu_lock.hold import held
from fictl.gpu_lock.visible import LockedGpu
depth = int(sys.argv[1])
with held([LockedGpu("aa", "0")], shared=depth == 2, wait=0.0):
    if depth:
        subprocess.run([sys.executable, "-c", sys.argv[2], str(depth - 1), sys.argv[2]], check=True)
    else:
        print("innermost")
"""
    for depth in ("1", "2"):
        argv = [sys.executable, "-c", code, depth, code]
        assert subprocess.run(argv, stdout=subprocess.PIPE, check=True).stdout == b"innermost\n"


def test_a_gpu_may_be_named_twice_and_none_needs_no_folder(
    locks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with held([AA, AA, LockedGpu("aa", "GPU-aa")], wait=0.0):
        pass
    monkeypatch.setenv("FICTL_GPU_LOCK_DIR", "/nowhere")
    with held([]):
        pass


@needs_root
def test_users_see_each_others_locks(holder, locks: Path) -> None:
    """Whoever created the file."""
    theirs = holder("aa", user=NOBODY)
    assert theirs.line() == "held"
    with pytest.raises(GpuBusy, match="user nobody"), held([AA], wait=0.0):
        pass
    theirs.free()
    assert (locks / "fictl-gpu-aa.lock").stat().st_uid == NOBODY
    assert holder("aa,bb").line() == "held"
    assert "user root" in holder("aa", user=NOBODY).line()
    assert "user root" in holder("bb", user=NOBODY).line()
