"""Places in a real Ray cluster of two nodes on this machine, with a token, and what kills them."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from fictl import settings
from fictl.child.family import descendants
from fictl.child.lost import NotStarted
from fictl.dataset.run_jobs import run_dataset
from fictl.dataset.run_observer import RunObserver
from fictl.dataset.run_options import RunOptions
from fictl.dataset.run_outcome import RunOutcome
from fictl.dataset.summary import Summary
from fictl.farm.line import Greeting
from fictl.farm.opening import close_all, open_all
from fictl.farm.place import Place
from fictl.farm.places_file import places_of
from fictl.farm.ray.cluster import LocalCluster, recorded
from fictl.farm.ray.link import end_links, link_to
from fictl.farm.ray.needs import ClusterNeeds
from fictl.jit import load
from fictl.trace import TraceSet
from tests.dataset.samples import definition, saved, solution, workload

from .ray_cluster import (
    TriedCluster,
    kill,
    listening_hosts,
    open_to_all,
    processes,
    table,
    token_of,
)

pytest.importorskip("ray", reason="needs ray (pip install 'fictl[ray]')")

FLAGS = {"iterations": 1, "warmup_runs": 1, "num_trials": 1, "profile_baseline": False}
_WORKLOADS = 3


@pytest.fixture(scope="session")
def tried() -> Iterator[TriedCluster]:
    cluster = TriedCluster()
    yield cluster
    cluster.close()


@pytest.fixture
def cluster(tried: TriedCluster, monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalCluster]:
    """A whole cluster, whose token is in the environment."""
    whole = tried.whole()
    for name, value in token_of(whole).items():
        monkeypatch.setenv(name, value)
    yield whole
    end_links()


@pytest.fixture
def dataset(tmp_path: Path) -> TraceSet:
    root = tmp_path / "dataset"
    root.mkdir()
    made = TraceSet.from_path(root)
    for name in ("d", "e"):
        made.add_definition(definition(name))
        made.add_workloads(name, [workload(f"{name}{n}") for n in range(_WORKLOADS)])
        made.add_solution(solution(f"{name}_a", name, code="def run(x):\n    return x.clone()\n"))
    return TraceSet.from_path(root)


@pytest.fixture
def on(cluster: LocalCluster, tmp_path: Path) -> Path:
    path = tmp_path / "places.toml"
    path.write_text(table(cluster, tmp_path / "there"))
    return path


class At(RunObserver):
    """Does something after a number of outcomes."""

    def __init__(self, deeds: dict[int, Callable[[], object]]) -> None:
        self._deeds = deeds

    def outcome(self, outcome: RunOutcome, done: int, total: int) -> None:
        self._deeds.get(done, lambda: None)()


def run(dataset: TraceSet, on: Path, observer: RunObserver | None = None) -> Summary:
    return run_dataset(dataset.root, RunOptions(device="cpu", on=str(on), flags=FLAGS), observer)


def holds_all(dataset: TraceSet, summary: Summary) -> bool:
    keys = Counter((trace.solution, trace.workload.uuid) for trace in saved(dataset))
    return (
        len(keys) == 2 * _WORKLOADS
        and {*keys.values()} == {1}
        and dict(summary.statuses) == {"PASSED": 2 * _WORKLOADS}
        and not summary.faults
    )


def test_a_dataset_is_evaluated_and_nothing_listens_to_other_machines(
    cluster: LocalCluster, dataset: TraceSet, on: Path
) -> None:
    summary = run(dataset, on)
    assert holds_all(dataset, summary)
    assert {outcome.place for outcome in summary.outcomes} <= {"ray-0", "ray-1"}
    pids = [process.pid for process in descendants(cluster.supervisor.pid)]
    hosts = {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}
    assert listening_hosts(pids) <= hosts


def test_a_killed_worker_and_a_killed_actor_lose_nothing(
    cluster: LocalCluster, dataset: TraceSet, on: Path
) -> None:
    deeds = {
        1: lambda: kill(processes(cluster, "fictl.farm.worker")[:1]),
        3: lambda: kill(processes(cluster, "ray::Holder")[:1]),
    }
    assert holds_all(dataset, run(dataset, on, At(deeds)))


@pytest.mark.usefixtures("tiny", "users_cache")
def test_an_op_is_built_and_timed(
    fictl, cluster: LocalCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    users = settings.WORKSPACE_BASE.get() or ""
    monkeypatch.setenv(settings.WORKSPACE_BASE.name, str(tmp_path / "here"))
    monkeypatch.setattr(load, "_loaded", {})
    path = tmp_path / "places.toml"
    path.write_text(table(cluster, users))
    words = ("twice", "--device", "emu", "--on", str(path), "--json")
    answer = fictl("build", *words)
    assert answer.code == 0, answer.err
    assert answer.document["data"][0]["place"].startswith("ray-")
    assert Path(answer.document["data"][0]["path"]).is_relative_to(tmp_path / "here")
    answer = fictl("bench", *words, "--max-time", "0.1")
    assert answer.code == 0, answer.err
    assert {row["place"][:4] for row in answer.document["data"]["rows"]} == {"ray-"}


def test_places_are_as_many_as_nodes_and_are_checked(fictl, cluster: LocalCluster) -> None:
    answer = fictl("farm", "check", cluster.on, "--device", "cpu", "--json")
    assert answer.code == 2  # As everywhere, the devices are cuda and emu.
    answer = fictl("farm", "check", cluster.on, "--device", "emu", "--json")
    assert answer.code == 0, answer.out
    assert [one["place"] for one in answer.document["data"]] == ["ray-0", "ray-1"]
    answer = fictl("farm", "check", cluster.on, "--device", "cuda")
    assert (answer.code, "have no GPU" in answer.err) == (3, True)


def test_what_the_cluster_lacks_is_said(
    cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fictl.farm.engine.ray.START_SECONDS", 2.0)
    monkeypatch.setattr("fictl.farm.connection._START_SECONDS", 2.0)
    needs = ClusterNeeds(cluster.address, "B200", 2)
    (one,) = open_all([Place("p", engine="ray", cluster=needs)], lambda place: Greeting("cpu"))
    assert "2 GPUs of B200" in one.why


def test_a_token_is_for_no_worker(cluster: LocalCluster) -> None:
    place = Place("p", engine="ray", cluster=ClusterNeeds(cluster.address, gpus=0))
    opened = open_all([place], lambda place: Greeting("cpu"))
    try:
        assert opened[0].problem is None
        (pid,) = processes(cluster, "fictl.farm.worker")
        environment = Path(f"/proc/{pid}/environ").read_bytes()
        assert b"RAY_" not in environment
    finally:
        close_all(opened)
    assert processes(cluster, "fictl.farm.worker") == []


@pytest.mark.parametrize("wrong", ["0" * 64, ""])
def test_another_token_or_none_is_refused(
    cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch, wrong: str
) -> None:
    if wrong:
        monkeypatch.setenv("RAY_AUTH_TOKEN", wrong)
    else:
        monkeypatch.delenv("RAY_AUTH_TOKEN")
        monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    with pytest.raises(NotStarted, match="does not accept this token") as caught:
        link_to(cluster.address)
    assert "RAY_AUTH_MODE to token, and RAY_AUTH_TOKEN or" in caught.value.hint


_DRIVER = """
import sys
from pathlib import Path
from fictl.dataset.run_jobs import run_dataset
from fictl.dataset.run_options import RunOptions
run_dataset(Path(sys.argv[1]), RunOptions(device="cpu", on=sys.argv[2], flags={flags!r}))
"""


def test_a_killed_driver_leaves_no_worker(
    cluster: LocalCluster, dataset: TraceSet, on: Path
) -> None:
    slow = "import time\ndef run(x):\n    time.sleep(0.5)\n    return x.clone()\n"
    dataset.add_solution(solution("slow", "d", code=slow))
    argv = [sys.executable, "-c", _DRIVER.format(flags=FLAGS), str(dataset.root), str(on)]
    with subprocess.Popen(argv, start_new_session=True) as driver:
        while not [*dataset.root.rglob("traces/**/*.jsonl")]:
            assert driver.poll() is None
            time.sleep(0.05)
        driver.kill()
    deadline = time.monotonic() + 10  # 3 s, on a busy machine.
    while processes(cluster, "fictl.farm.worker"):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_killed_raylet_loses_nothing(cluster: LocalCluster, dataset: TraceSet, on: Path) -> None:
    deeds = {2: lambda: kill(processes(cluster, "raylet_socket_name")[1:2])}
    assert holds_all(dataset, run(dataset, on, At(deeds)))


def test_without_the_head_other_places_go_on(
    tried: TriedCluster, dataset: TraceSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = tried.some()
    for name, value in token_of(cluster).items():
        monkeypatch.setenv(name, value)
    here = 'variables = { FICTL_WORKSPACE_BASE = "%s" }\n' % (tmp_path / "far")
    far = '[[place]]\nname = "far"\nlaunch = ["env"]\n' + here
    on = tmp_path / "places.toml"
    on.write_text(table(cluster, tmp_path / "there", count=1) + far)
    deeds = {2: lambda: kill(processes(cluster, "gcs_server"))}
    assert holds_all(dataset, run(dataset, on, At(deeds)))
    end_links()


def test_who_ends_takes_the_cluster_along(tried: TriedCluster) -> None:
    cluster = tried.some()
    tried.close()
    assert not any(process.is_alive for process in cluster.members)
    assert not os.path.exists(cluster.folder)


def test_a_cluster_that_anybody_can_use_is_refused(
    fictl, short_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host, port = _routable_host(), _free_port()
    head = open_to_all(short_folder, port)
    try:
        assert head.wait(120) == 0
        monkeypatch.setenv("RAY_AUTH_MODE", "token")  # A token here is none there.
        monkeypatch.setenv("RAY_AUTH_TOKEN", "0" * 64)
        answer = fictl("farm", "check", f"ray://{host}:{port}", "--device", "emu")
        assert answer.code == 3
        assert f"the Ray cluster at {host}:{port} has no token" in answer.err
        assert "set RAY_AUTH_MODE to token, and RAY_AUTH_TOKEN or RAY_AUTH_TOKEN_PATH" in answer.err
    finally:
        with suppress(ProcessLookupError):
            os.killpg(head.pid, signal.SIGKILL)


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """A folder for sockets, whose paths have at most 107 bytes."""
    with tempfile.TemporaryDirectory(dir="/tmp", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def _routable_host() -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # Nothing is sent.
        except OSError:
            pytest.skip("this machine has the loopback interface alone")
        return str(probe.getsockname()[0])


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("", 0))
        return int(free.getsockname()[1])


def test_a_cluster_is_up_until_it_is_taken_down(fictl, tmp_path: Path) -> None:
    assert "no Ray cluster" in fictl("farm", "down").out
    up = fictl("farm", "up", "--json")
    try:
        assert up.code == 0, up.err
        on = up.document["data"]["on"]
        assert on in fictl("farm", "up").out
        assert fictl("farm", "up", "-n", "2").code == 2
        text = fictl("farm", "init", "--ray", on, "--dry-run", "--json").document["data"]["text"]
        path = tmp_path / "places.toml"
        path.write_text(text)
        (place,) = [place for place in places_of(str(path), "cuda") if place.cluster]
        assert place.cluster == ClusterNeeds(on.removeprefix("ray://"), gpus=0)
        assert fictl("farm", "down", "--dry-run").code == 0
        cluster = recorded()
        assert cluster is not None
        os.kill(cluster.supervisor.pid, signal.SIGKILL)  # Its processes are ended all the same.
    finally:
        end_links()
        assert "ended 1 node" in fictl("farm", "down").out
    assert not any(process.is_alive for process in cluster.members)
    assert not os.path.exists(cluster.folder)
