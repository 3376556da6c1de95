"""The shelf of a run: shared, private, and gone with the last who used it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from io import BytesIO

import pytest

from fictl.errors import UsageError
from fictl.judge.once.shelf import Shelf
from fictl.judge.process.order_desk import OWN, Delivery
from fictl.judge.process.scratch import scratch_root

RUN = "0123456789abcdef"


def test_what_one_worker_puts_another_finds() -> None:
    one, other = Shelf(RUN), Shelf(RUN)
    try:
        assert other.find("k") is None
        one.put("k", Delivery(seconds=2.0), BytesIO(b"module"))
        found = other.find("k")
        assert found is not None
        assert found.module is not None
        assert (found.module.read_bytes(), found.seconds) == (b"module", 2.0)
        other.put("k", OWN)  # The second one comes too late.
        assert one.find("k") == found
        one.put("bad", Delivery(first="no such file", hint="h", log="l"))
        assert other.find("bad") == Delivery(first="no such file", hint="h", log="l")
    finally:
        one.close()
        other.close()


def test_the_last_one_to_leave_removes_it() -> None:
    one, other = Shelf(RUN), Shelf(RUN)
    one.close()
    assert other.folder.is_dir()
    assert other.folder.stat().st_mode & 0o077 == 0
    other.close()
    assert not other.folder.exists()


def test_one_worker_at_a_time_builds() -> None:
    one, other = Shelf(RUN), Shelf(RUN)
    try:
        with one.claimed("k") as first, other.claimed("k") as second, other.claimed("l") as third:
            assert (first, second, third) == (True, False, True)
        with other.claimed("k") as again:
            assert again
    finally:
        one.close()
        other.close()


def test_what_a_killed_run_left_is_removed_by_the_next() -> None:
    code = (
        "import os, signal; from fictl.judge.once.shelf import Shelf;"
        "shelf = Shelf('feedfeedfeedfeed'); print(shelf.folder, flush=True);"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ended.returncode == -signal.SIGKILL
    left = ended.stdout.strip()
    assert os.path.isdir(left)
    Shelf(RUN).close()
    assert not os.path.exists(left)


@pytest.mark.parametrize("run", ["", "..", "../../etc", "a" * 65, "ABCDEF0123", "0123456/"])
def test_only_a_name_of_a_run_is_taken(run: str) -> None:
    with pytest.raises(UsageError, match="not the name of a run"):
        Shelf(run)


def test_a_link_in_its_place_is_refused(tmp_path: object) -> None:
    link = scratch_root() / "once-abcdefabcdef"
    link.symlink_to(str(tmp_path))
    try:
        with pytest.raises(UsageError, match="link"):
            Shelf("abcdefabcdef")
    finally:
        link.unlink()
