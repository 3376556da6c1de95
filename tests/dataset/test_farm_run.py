"""A run at places that a command line reaches: another machine, as far as the driver can tell."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from fictl.child.family import descendants, member
from fictl.child.local_process import LocalProcess
from fictl.dataset.run_jobs import run_dataset
from fictl.dataset.run_observer import RunObserver
from fictl.dataset.run_options import RunOptions
from fictl.dataset.run_outcome import RunOutcome
from fictl.dataset.summary import Summary
from fictl.errors import SetupError
from fictl.trace import TraceSet, Workload

from .samples import saved, solution

FLAGS = {"iterations": 1, "warmup_runs": 1, "num_trials": 1, "profile_baseline": False}
_PLACES = """
[[place]]
name = "far{0..1}"
launch = ["sh", "-c", 'echo welcome; echo; exec "$@"', "sh"]
variables = { FICTL_WORKSPACE_BASE = "%s/far{0..1}" }
labels = ["far"]
"""


@pytest.fixture
def places(tmp_path: Path) -> Path:
    """Two places whose caches are their own."""
    path = tmp_path / "places.toml"
    path.write_text(_PLACES % tmp_path)
    return path


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """The first of them alone: each starts processes that import torch."""
    path = tmp_path / "place.toml"
    path.write_text(_PLACES.replace("{0..1}", "0") % tmp_path)
    return path


def run(
    dataset: TraceSet, on: object, observer: RunObserver | None = None, **more: object
) -> Summary:
    options = RunOptions(device="cpu", on=str(on), flags=FLAGS, **more)  # type: ignore[arg-type]
    return run_dataset(dataset.root, options, observer)


def keys(dataset: TraceSet) -> Counter[tuple[str, str]]:
    return Counter((trace.solution or "", trace.workload.uuid) for trace in saved(dataset))


def test_results_name_their_places_and_come_once(dataset: TraceSet, places: Path) -> None:
    summary = run(dataset, places)
    assert (len(summary.outcomes), summary.undone, summary.left_out) == (7, 0, ())
    assert {*keys(dataset).values()} == {1}
    assert {outcome.place for outcome in summary.outcomes} <= {"far0", "far1"}
    assert all(t.evaluation and t.evaluation.fictl["place"] for t in saved(dataset))
    assert run(dataset, places, resume=True).skipped == 7


def test_files_of_a_dataset_travel_by_their_content(
    dataset: TraceSet, place: Path, tmp_path: Path
) -> None:
    blob = dataset.root / "blob" / "mm" / "x.safetensors"
    blob.parent.mkdir(parents=True)
    save_file({"x": torch.arange(700_000, dtype=torch.float32)}, blob)  # Three frames.
    workload = {"axes": {"n": 700_000}, "uuid": "stored"}
    spec = {"type": "safetensors", "path": "blob/mm/x.safetensors", "tensor_key": "x"}
    dataset.add_workload("mm", Workload.model_validate({**workload, "inputs": {"x": spec}}))
    dataset.add_solution(solution("copy", "mm", code="def run(x):\n    return x.clone()\n"))
    summary = run(dataset, place, solutions=("copy",))
    assert dict(summary.statuses) == {"PASSED": 2}
    far = [*tmp_path.glob("far*/.cache/fictl/v1/.farm/*")]
    assert [path.stat().st_size for path in far if len(path.name) == 64] == [
        blob.stat().st_size
    ] * len([path for path in far if len(path.name) == 64])
    assert not [*tmp_path.glob("far*/.cache/fictl/v1/.farm/datasets/*")]


def test_a_solution_does_not_see_what_came_from_the_driver(
    dataset: TraceSet, place: Path, tmp_path: Path
) -> None:
    folders = [str(tmp_path / f"far{n}" / ".cache/fictl/v1/.farm") for n in range(2)]
    code = (
        "import os\ndef run(x):\n"
        f"    for folder in {folders!r}:\n"
        "        try:\n            names = os.listdir(folder)\n"
        "        except OSError:\n            continue\n"
        "        if names:\n            raise RuntimeError(names)\n"
        "    return x.clone()\n"
    )
    dataset.add_solution(solution("curious", "mm", code=code))
    assert dict(run(dataset, place, solutions=("curious",)).statuses) == {"PASSED": 1}


def test_a_file_that_is_not_there_is_no_fault_of_a_place(dataset: TraceSet, place: Path) -> None:
    spec = {"type": "safetensors", "path": "blob/mm/x.safetensors", "tensor_key": "x"}
    workload = {"axes": {"n": 4}, "uuid": "stored", "inputs": {"x": spec}}
    dataset.add_workload("mm", Workload.model_validate(workload))
    summary = run(dataset, place, solutions=("mm_a",))
    assert [error.workload for error in summary.errors] == ["stored"]
    assert not summary.faults


def test_a_place_without_python_is_left_out_by_name(dataset: TraceSet, place: Path) -> None:
    place.write_text(
        place.read_text() + '[[place]]\nname = "bare"\nlaunch = ["env"]\npython = "no-python"\n'
    )
    summary = run(dataset, place, solutions=("mm_a",))
    assert len(summary.outcomes) == 1
    assert any("place bare left out" in why and "no-python" in why for why in summary.left_out)


def test_where_no_place_can_be_used_the_reasons_are_said(dataset: TraceSet, tmp_path: Path) -> None:
    path = tmp_path / "places.toml"
    path.write_text(
        '[[place]]\nname = "bare"\nlaunch = ["sh", "-c", "echo no route >&2; exit 255"]\n'
    )
    with pytest.raises(SetupError, match=r"place bare left out.*no route"):
        run(dataset, path)
    assert saved(dataset) == []


def test_a_place_with_a_full_disk_is_left_out_by_name(dataset: TraceSet, place: Path) -> None:
    """A limit of file sizes stands for it."""
    blob = dataset.root / "blob" / "x.safetensors"
    blob.parent.mkdir()
    save_file({"x": torch.arange(100_000, dtype=torch.float32)}, blob)
    spec = {"type": "safetensors", "path": "blob/x.safetensors", "tensor_key": "x"}
    stored = {"axes": {"n": 100_000}, "uuid": "stored", "inputs": {"x": spec}}
    dataset.add_workload("mm", Workload.model_validate(stored))
    place.write_text(place.read_text().replace("echo;", "ulimit -f 400;"))
    notes: list[str] = []

    class Observer(RunObserver):
        def note(self, text: str) -> None:
            notes.append(text)

    with pytest.raises(SetupError, match="cannot be kept"):
        run(dataset, place, Observer(), solutions=("mm_a",))
    assert any(note.startswith("place far0 left out: a file of") for note in notes)
    assert "stored" not in {uuid for _, uuid in keys(dataset)}


class Killer(RunObserver):
    """Signals one worker after the first outcome."""

    def __init__(self, number: signal.Signals) -> None:
        self.number = number

    def outcome(self, outcome: RunOutcome, done: int, total: int) -> None:
        if done == 1:
            os.kill(workers(os.getpid())[0], self.number)


def workers(above: int) -> list[int]:
    """The pids of workers below a process."""
    found = []
    for process in descendants(above):
        try:
            words = Path(f"/proc/{process.pid}/cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"fictl.farm.worker" in words:
            found.append(process.pid)
    return found


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_worker_that_is_killed_loses_nothing(
    dataset: TraceSet, places: Path, number: signal.Signals
) -> None:
    summary = run(dataset, places, Killer(number))
    assert (len(summary.outcomes), summary.undone, summary.faults) == (7, 0, [])
    assert {*keys(dataset).values()} == {1}
    assert not any(
        ((t.evaluation and t.evaluation.fictl) or {}).get("lost") for t in saved(dataset)
    )


def test_a_worker_that_is_stopped_is_lost(
    dataset: TraceSet, places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fictl.farm.connection.HEARTBEAT_SECONDS", 0.5)
    summary = run(dataset, places, Killer(signal.SIGSTOP))
    assert (len(summary.outcomes), summary.undone, summary.faults) == (7, 0, [])
    assert workers(os.getpid()) == []


_DRIVER = """
import sys
from pathlib import Path
from fictl.child.family import descendants, member
from fictl.child.local_process import LocalProcess
from fictl.dataset.run_jobs import run_dataset
from fictl.dataset.run_options import RunOptions
root, on = sys.argv[1:]
flags = {flags!r}
run_dataset(Path(root), RunOptions(device="cpu", on=on, flags=flags))
"""


def test_a_driver_that_is_killed_leaves_no_worker(dataset: TraceSet, places: Path) -> None:
    code = _DRIVER.format(flags=FLAGS)
    slow = "import time\ndef run(x):\n    time.sleep(0.5)\n    return x.clone()\n"
    dataset.add_solution(solution("slow", "scale", code=slow))
    argv = [sys.executable, "-c", code, str(dataset.root), str(places)]
    with subprocess.Popen(argv, start_new_session=True) as driver:
        while not (below := workers(driver.pid)) or not [*dataset.root.rglob("traces/**/*.jsonl")]:
            assert driver.poll() is None
            time.sleep(0.05)
        driver.kill()
    deadline = time.monotonic() + 5  # 3 s, on a busy machine.
    while any(member(pid) for pid in below):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    before = len(saved(dataset))
    assert len(run(dataset, places, resume=True).outcomes) == 10 - before
    assert {*keys(dataset).values()} == {1}


def test_two_drivers_may_use_the_same_places(dataset: TraceSet, places: Path) -> None:
    argv = [sys.executable, "-c", _DRIVER.format(flags=FLAGS), str(dataset.root), str(places)]
    with subprocess.Popen(argv) as other:
        assert len(run(dataset, places).outcomes) == 7
        assert other.wait() == 0
    assert {*keys(dataset).values()} == {2}  # Each key once by each driver.


def test_hardware_that_no_place_has_is_said(dataset: TraceSet, place: Path) -> None:
    with pytest.raises(SetupError, match="no place has the hardware H100"):
        run(dataset, place, hardware=("H100",))


def test_each_kind_of_place_evaluates_everything(dataset: TraceSet, place: Path) -> None:
    place.write_text(place.read_text() + '[[place]]\nname = "near"\nlabels = ["near"]\n')
    summary = run(dataset, place, hardware=("far", "near"), definitions=("mm",))
    assert Counter(outcome.place[:3] for outcome in summary.outcomes) == {"far": 1, "nea": 1}


_EXPOSED = """#!{python}
import sys
from fictl.farm import worker
from fictl.judge.process import spawn
from fictl.judge.sandbox.policy import SandboxPolicy
class Bare(spawn.Zygote):
    def _greeted(self, output):
        super()._greeted(output)
        return SandboxPolicy({files!r}, {network!r})
spawn.Zygote = Bare
sys.exit(worker.main())
"""


@pytest.mark.parametrize(("files", "network"), [("", "netns"), ("landlock", ""), ("", "")])
def test_untrusted_solutions_do_not_go_where_the_walls_do_not_hold(
    dataset: TraceSet,
    place: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    files: str,
    network: str,
) -> None:
    script = tmp_path / "exposed"
    script.write_text(_EXPOSED.format(python=sys.executable, files=files, network=network))
    script.chmod(0o755)
    bare = f'[[place]]\nname = "bare"\nlaunch = ["env"]\npython = "{script}"\n'
    place.write_text(bare + place.read_text())
    lines: list[tuple[str, str]] = []
    write = LocalProcess.write_line

    def written(self: LocalProcess, line: str) -> None:
        lines.append((str(self._popen.args), line))
        write(self, line)

    monkeypatch.setattr(LocalProcess, "write_line", written)
    flags = {**FLAGS, "untrusted": True}
    options = RunOptions(device="cpu", on=str(place), flags=flags, solutions=("mm_a",))
    summary = run_dataset(dataset.root, options)
    assert {outcome.place[:3] for outcome in summary.outcomes} == {"far"}
    assert len(summary.outcomes) == 1
    (why,) = [why for why in summary.left_out if "bare" in why]
    assert "place bare left out: untrusted solutions cannot be run" in why
    there = [line for argv, line in lines if str(script) in argv]
    assert there
    assert {json.loads(line)["kind"] for line in there} <= {"Greeting", "HoldGpu"}
    assert all("def run" not in line for line in there)
