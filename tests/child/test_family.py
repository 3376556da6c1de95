"""A process is ended with all below it, and those that do not listen are killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from fictl.child.family import ancestors, descendants, end_family, member


def start(body: str, tmp_path: Path) -> tuple[subprocess.Popen[bytes], list[int]]:
    """A shell script, and the processes that it writes down."""
    place = tmp_path / "processes"
    script = f"say() {{ echo $1 >> {place}; }}\n{body}\necho end >> {place}\nwait"
    popen = subprocess.Popen(["sh", "-c", script], start_new_session=True)
    while not (place.is_file() and "end" in place.read_text()):
        time.sleep(0.005)
    return popen, [int(word) for word in place.read_text().split() if word.isdigit()]


def gone(process: int) -> bool:
    """Or a zombie, of which whoever adopted it gets rid."""
    end = time.monotonic() + 5
    stat = Path(f"/proc/{process}/stat")
    while time.monotonic() < end:
        try:
            if stat.read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.005)
    return False


def test_what_it_started_goes_with_it_whatever_group_it_is_in(tmp_path: Path) -> None:
    popen, below = start("sleep 60 & say $!\nsetsid sleep 60 & say $!", tmp_path)
    end_family(popen)
    assert popen.returncode == -15
    assert all(map(gone, below))


def test_who_does_not_listen_is_killed(tmp_path: Path) -> None:
    deaf = "sh -c 'trap \"\" TERM; sleep 60' & say $!"
    popen, below = start(f"trap '' TERM\n{deaf}", tmp_path)
    end_family(popen, 0.05)
    assert popen.returncode == -9
    assert all(map(gone, below))


def test_one_that_has_ended_is_left_alone(tmp_path: Path) -> None:
    popen, _ = start("", tmp_path)
    end_family(popen)
    end_family(popen)
    assert popen.returncode in (0, -15)


def test_descendants_are_told_by_their_distance(tmp_path: Path) -> None:
    popen, (child,) = start("sh -c 'sleep 60; true' & say $!", tmp_path)
    while len(descendants(popen.pid)) < 2:
        time.sleep(0.005)
    near, far = descendants(popen.pid)
    assert (near.pid, near.parent, far.parent) == (child, popen.pid, child)
    end_family(popen)
    assert member(far.pid) is None or gone(far.pid)
    assert descendants(popen.pid) == []


def test_a_group_whose_leader_has_died_is_ended_too(tmp_path: Path) -> None:
    popen, (orphan,) = start("sleep 60 & say $!", tmp_path)
    popen.kill()
    popen.wait()
    end_family(popen)
    assert gone(orphan)


def test_ancestors_begin_with_the_process_itself() -> None:
    own, parent, *_ = ancestors(os.getpid())
    assert (own.pid, own.parent, parent.pid) == (os.getpid(), parent.pid, os.getppid())


def test_a_process_is_stopped_once_none_of_its_threads_runs() -> None:
    code = "import threading; threading.Thread(target=input).start(); print(flush=True)"
    argv = [sys.executable, "-c", code]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as popen:
        assert popen.stdout is not None
        popen.stdout.readline()
        process = member(popen.pid)
        assert process is not None
        assert not process.is_stopped()
        process.signal(signal.SIGSTOP)
        os.waitpid(popen.pid, os.WUNTRACED)  # Once all of its threads are.
        assert process.is_stopped()
        process.signal(signal.SIGKILL)
    assert process.is_stopped()
