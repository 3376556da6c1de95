"""The call log goes where FICTL_LOGDEST says, whole records at a time, or says why it cannot."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from fictl.errors import InvalidValue, SetupError
from fictl.op.watch.log_destination import LogDestination

# Python 3.12 warns of every fork where a library has threads.
_FORKS = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_stream_is_written_past_the_buffers_of_python(
    stream: str, capfd: pytest.CaptureFixture[str]
) -> None:
    LogDestination(stream).write("a record\n")
    assert getattr(capfd.readouterr(), stream[3:]) == "a record\n"


def test_the_process_and_the_rank_may_stand_in_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANK", "3")
    destination = LogDestination(f"{tmp_path}/calls.%i.%r.log")
    destination.write("a record\n")
    assert (tmp_path / f"calls.{os.getpid()}.3.log").read_text() == "a record\n"
    assert destination.origin == f"pid={os.getpid()} rank=3"


def test_a_rank_cannot_leave_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "/../../x\n")
    LogDestination(f"{tmp_path}/%r.log")
    assert [path.name for path in tmp_path.iterdir()] == ["_______x.log"]


def test_without_a_job_there_is_no_rank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID", "PMI_RANK"):
        monkeypatch.delenv(name, raising=False)
    assert LogDestination(f"{tmp_path}/log").origin.endswith(" rank=-")


def test_what_is_in_the_file_stays(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("before\n")
    LogDestination(f"{tmp_path}/log").write("after\n")
    assert (tmp_path / "log").read_text() == "before\nafter\n"


def test_a_placeholder_that_means_nothing_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidValue, match=r"FICTL_LOGDEST='.*%p.log': %p means nothing"):
        LogDestination(f"{tmp_path}/calls.%p.log")


def test_a_missing_folder_is_an_error_that_says_how_to_make_it(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="No such file or directory") as refused:
        LogDestination(f"{tmp_path}/logs/calls.log")
    assert "FICTL_LOGDEST=" in refused.value.message
    assert refused.value.hint.startswith(f"mkdir -p {tmp_path}/logs")


def test_a_folder_is_no_destination(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="Is a directory"):
        LogDestination(str(tmp_path))


@_FORKS
def test_a_forked_child_has_a_file_of_its_own_once_it_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    destination = LogDestination(f"{tmp_path}/%i.log")
    monkeypatch.chdir("/")
    child = os.fork()
    if child == 0:
        made = len(list(tmp_path.iterdir()))
        destination.write(f"{made} {destination.origin}\n")
        os._exit(0)
    os.waitpid(child, 0)
    assert (tmp_path / f"{child}.log").read_text().startswith(f"1 pid={child} ")
    assert (tmp_path / f"{os.getpid()}.log").read_text() == ""


def test_a_child_that_cannot_open_its_own_file_writes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr("fictl.op.watch.log_destination.warn_once", said.append)
    (tmp_path / "logs").mkdir()
    destination = LogDestination(f"{tmp_path}/logs/%i.log")
    (tmp_path / "logs").rename(tmp_path / "moved")
    destination._identify()  # What a fork does.
    destination.write("a record\n")
    assert (tmp_path / "moved" / f"{os.getpid()}.log").read_text() == "a record\n"
    assert "No such file or directory" in said[0]


@_FORKS
def test_records_of_threads_and_processes_do_not_interleave(tmp_path: Path) -> None:
    destination = LogDestination(f"{tmp_path}/log")
    records = [f"{letter * 5000}\n" for letter in "abcdefgh"]

    def write(record: str) -> None:
        for _ in range(50):
            destination.write(record)

    child = os.fork()
    threads = [threading.Thread(target=write, args=[r]) for r in records[:: 1 if child else 2]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    lines = (tmp_path / "log").read_text().splitlines(keepends=True)
    assert len(lines) == 50 * (8 + 4)
    assert set(lines) == set(records)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_a_warning_and_the_call_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr("fictl.op.watch.log_destination.warn_once", said.append)
    LogDestination("/dev/full").write("a record\n")
    assert said == [
        "calls are not logged: FICTL_LOGDEST cannot be written: No space left on device"
    ]
