"""Judging a solution: its status, what is told of it, and how long its process lives."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from fictl.errors import SetupError, UsageError
from fictl.judge import EvalConfig, Judge, judge
from fictl.judge.process.spawn import zygote
from fictl.judge.reference import Reference
from fictl.judge.sandbox.policy import SandboxPolicy
from fictl.paths import same_packages
from fictl.trace import Evaluation, Solution, Workload

from .judge_runs import CONFIG, WORKLOAD, definition, said, solution

HONEST = "def run(x, s):\n    return x * s\n"
TELLS_ITS_PROCESS = """
import secrets
NAME = secrets.token_hex(8)
def run(x, s):
    print("process", NAME)
    return x * s
"""


@pytest.fixture(scope="module")
def reference() -> Iterator[Reference]:
    with Reference(definition(), "cpu") as made:
        yield made


def judged(
    tried: Solution,
    reference: Reference,
    config: EvalConfig = CONFIG,
    workload: Workload = WORKLOAD,
) -> Evaluation:
    return judge(definition(), tried, workload, config, reference=reference)


def test_what_passes_is_timed_and_tells_how(reference: Reference) -> None:
    found = judged(solution(HONEST), reference, replace(CONFIG, seed=7))
    assert found.status.value == "PASSED", said(found)
    assert found.performance is not None
    assert found.correctness is not None
    assert found.fictl is not None
    assert found.performance.latency_ms > 0
    assert found.performance.reference_latency_ms > 0
    assert found.correctness.max_absolute_error == 0
    told = {
        name: found.fictl[name] for name in ("seed", "timer", "device", "sandbox", "iterations")
    }
    assert told == {
        "seed": 7,
        "timer": "host",
        "device": "cpu",
        "sandbox": zygote().policy.label,
        "iterations": 3,
    }
    assert found.fictl["solution_hash"] == solution(HONEST).hash()
    assert found.fictl["checked"] >= CONFIG.correctness_rounds
    assert "torch" in found.environment.libs


def test_a_seed_that_is_not_given_is_chosen_and_told(reference: Reference) -> None:
    seeds = [(judged(solution(HONEST), reference).fictl or {})["seed"] for _ in range(2)]
    assert seeds[0] != seeds[1]


def test_without_a_baseline_only_the_solution_is_timed(reference: Reference) -> None:
    found = judged(solution(HONEST), reference, replace(CONFIG, profile_baseline=False))
    assert found.performance is not None
    assert found.performance.reference_latency_ms == 0


def test_what_cannot_be_built_tells_the_first_error(reference: Reference) -> None:
    found = judged(solution("def run(x, s)\n    return x * s\n"), reference)
    assert found.status.value == "COMPILE_ERROR"
    assert "main.py" in found.log
    assert "line 1" in found.log


def test_a_traceback_begins_with_the_solution(reference: Reference) -> None:
    found = judged(solution("def run(x, s):\n    return x.nowhere\n"), reference)
    assert found.status.value == "RUNTIME_ERROR"
    assert "line 2, in run" in found.log
    assert "fictl/judge" not in found.log
    assert "fictl/runnable" not in found.log


@pytest.mark.parametrize(
    ("body", "part"),
    [
        ("raise ValueError('it is broken')", "it is broken"),
        ("return x * float('nan')", "NaN throughout"),
        ("return x[:, 1:]", "has shape [16, 63], not [16, 64]"),
        ("return x, x", "2 values"),
        ("import os; os._exit(3)", "exit code 3"),
    ],
)
def test_a_reference_that_is_wrong_is_held_against_nobody(body: str, part: str) -> None:
    made = definition(f"def run(x, s):\n    {body}\n")
    found = judge(made, solution(HONEST), WORKLOAD, CONFIG)
    assert found.status.value == "INVALID_REFERENCE", said(found)
    assert part in found.log


def test_inputs_that_cannot_be_made_are_no_fault_of_the_solution(tmp_path: Path) -> None:
    workload = _kept("blob/nowhere.safetensors")
    with pytest.raises(UsageError, match="nowhere"):
        judge(definition(), solution(HONEST), workload, CONFIG, root=tmp_path)


def test_a_process_knows_itself_and_may_name_its_threads(reference: Reference) -> None:
    """CUDA does not start where it cannot."""
    source = """
import os, threading
assert os.path.samefile(f"/proc/{os.getpid()}", "/proc/self")
with open(f"/proc/self/task/{threading.get_native_id()}/comm", "w") as file:
    file.write("named")
def run(x, s):
    return x * s
"""
    found = judged(solution(source), reference)
    assert found.status.value == "PASSED", said(found)


def test_a_build_alone_runs_nothing(reference: Reference, tmp_path: Path) -> None:
    """And what it leaves in its folder is there for the next."""
    source = "raise ValueError('is broken')\n"
    with Judge(definition(), solution(source), CONFIG, scratch=tmp_path / "a") as one:
        found = one.build()
    assert found is not None
    assert found.status.value == "COMPILE_ERROR"
    assert "is broken" in found.log
    raises = "def run(x, s):\n    raise ValueError\n"
    with Judge(definition(), solution(raises), CONFIG, scratch=tmp_path / "b") as one:
        assert one.build() is None


def test_kept_tensors_are_sent_to_a_process_that_cannot_read_the_dataset(tmp_path: Path) -> None:
    (tmp_path / "blob").mkdir()
    save_file({"x": torch.randn(16, 64)}, tmp_path / "blob" / "w.safetensors")
    source = f"""
import os
def run(x, s):
    print("blobs", os.access({str(tmp_path / "blob" / "w.safetensors")!r}, os.R_OK))
    return x * s
"""
    workload = _kept("blob/w.safetensors")
    found = judge(definition(), solution(source), workload, CONFIG, root=tmp_path)
    assert found.status.value == "PASSED", said(found)
    assert (found.fictl or {})["fresh_inputs"] is False
    if zygote().policy.label.startswith("landlock+netns+pidns"):
        assert "blobs False" in found.log


def test_inputs_that_the_definition_makes_are_sent(reference: Reference) -> None:
    init = (
        "def make(sizes, dtype, device, generator):\n    import torch\n"
        "    return {'x': torch.rand(sizes['m'], sizes['n'], generator=generator)}\n"
    )
    found = judge(definition(init=init), solution(HONEST), WORKLOAD, CONFIG)
    assert found.status.value == "PASSED", said(found)
    cached = "KEPT = []\ndef run(x, s):\n    KEPT.append(x * s)\n    return KEPT[0].clone()\n"
    found = judge(definition(init=init), solution(cached), WORKLOAD, CONFIG)
    assert found.status.value == "INCORRECT_NUMERICAL", said(found)


def test_an_input_that_is_an_output_may_be_changed() -> None:
    made = definition("def run(x, s):\n    return x * s\n")
    tensor = made.outputs["y"]
    in_place = made.model_copy(update={"outputs": {"x": tensor}})
    source = "def run(x, s):\n    x.mul_(s)\n    return x\n"
    found = judge(in_place, solution(source), WORKLOAD, CONFIG)
    assert found.status.value == "PASSED", said(found)


def test_a_process_stays_for_the_next_workload(reference: Reference) -> None:
    with Judge(definition(), solution(TELLS_ITS_PROCESS), CONFIG, reference=reference) as one:
        processes = [_process(one.evaluate(_sized(size))) for size in (4, 8)]
    assert processes[0] == processes[1]


def test_isolated_each_workload_has_a_process_of_its_own(reference: Reference) -> None:
    with Judge(
        definition(), solution(TELLS_ITS_PROCESS), CONFIG, reference=reference, isolated=True
    ) as one:
        processes = [_process(one.evaluate(_sized(size))) for size in (4, 8)]
    assert processes[0] != processes[1]


def test_a_process_that_died_is_replaced(reference: Reference) -> None:
    source = "import os\ndef run(x, s):\n    return x * s if len(x) > 4 else os._exit(1)\n"
    with Judge(definition(), solution(source), CONFIG, reference=reference) as one:
        found = [one.evaluate(_sized(size)).status.value for size in (8, 4, 8)]
    assert found == ["PASSED", "RUNTIME_ERROR", "PASSED"]


def test_no_secret_of_the_environment_is_handed_on(
    reference: Reference, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_TOKEN", "secret")
    source = "import os\ndef run(x, s):\n    print(sorted(os.environ))\n    return x * s\n"
    found = judged(solution(source), reference)
    assert "MY_TOKEN" not in found.log
    assert "TMPDIR" in found.log


def test_untrusted_is_refused_where_nothing_keeps_it_in(
    reference: Reference, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zygote(), "policy", SandboxPolicy())
    with pytest.raises(SetupError, match="untrusted"):
        judged(solution(HONEST), reference, replace(CONFIG, untrusted=True))
    found = judged(solution(HONEST), reference)
    assert (found.fictl or {})["sandbox"] == "none"
    assert found.status.value == "PASSED", said(found)


@pytest.mark.parametrize(
    "policy", [SandboxPolicy(), SandboxPolicy("landlock", "")], ids=["none", "landlock"]
)
def test_what_is_left_running_is_ended_without_namespaces_too(
    reference: Reference, monkeypatch: pytest.MonkeyPatch, policy: SandboxPolicy, tmp_path: Path
) -> None:
    monkeypatch.setattr(zygote(), "policy", policy)
    left = f"left-{os.getpid()}"
    source = (Path(__file__).parent / "hostile" / "leaves_a_daemon.py").read_text()
    marked = source.replace(
        "time.sleep(60)", f"open('/proc/self/comm', 'w').write('{left}'); time.sleep(60)"
    )
    found = judged(solution(marked), reference)
    assert found.status.value == "REWARD_HACK", said(found)
    assert not _named(left)


def test_all_ends_with_the_one_who_judges(tmp_path: Path) -> None:
    """However it ends: here it is killed while a solution hangs."""
    program = (
        "from tests.judge.judge_runs import *\nfrom fictl.judge import judge\n"
        'source = \'import time\\nopen("/proc/self/comm", "w").write("hangs")\\n'
        "def run(x, s):\\n    time.sleep(600)\\n'\n"
        "judge(definition(), solution(source), WORKLOAD, CONFIG)\n"
    )
    root = str(Path(__file__).parents[2])
    environment = {**os.environ, **same_packages()}
    environment["PYTHONPATH"] = f"{root}{os.pathsep}{environment['PYTHONPATH']}"
    child = subprocess.Popen([sys.executable, "-c", program], env=environment)
    try:
        _wait_until(lambda: bool(_named("hangs")) or child.poll() is not None, 60)
        assert _named("hangs")
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait()
    _wait_until(lambda: not _named("hangs"), 10)
    assert not _named("hangs")


def _wait_until(done: object, seconds: float) -> None:
    assert callable(done)
    until = time.monotonic() + seconds
    while not done() and time.monotonic() < until:
        time.sleep(0.05)


def _named(name: str) -> list[str]:
    found = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            found += [entry.name] if (entry / "comm").read_text().strip() == name else []
    return found


def _process(found: Evaluation) -> str:
    assert found.status.value == "PASSED", said(found)
    return found.log.split("process ")[1].split()[0]


def _sized(size: int) -> Workload:
    return WORKLOAD.model_copy(update={"axes": {"m": size}, "uuid": f"w{size}"})


def _kept(path: str) -> Workload:
    inputs = WORKLOAD.model_dump(mode="json")["inputs"]
    inputs["x"] = {"type": "safetensors", "path": path, "tensor_key": "x"}
    return Workload.model_validate({"axes": {"m": 16}, "uuid": "w", "inputs": inputs})


_ON_ONE_CORE = r"""
import os, sys
os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
sys.path.insert(0, {folder!r})
from judge_runs import CONFIG, WORKLOAD, definition, solution
from fictl.judge import judge
source = "import threading\ndef run(x, s):\n    t = threading.Thread(target=int); t.start(); t.join()\n"
found = judge(definition(), solution(source + "    return x * s"), WORKLOAD, CONFIG)
print(found.status.value, found.log)
"""


def test_a_first_thread_on_one_core_is_no_change_of_signals() -> None:
    """The C library then installs handlers of its own, which no process has had before."""
    code = _ON_ONE_CORE.format(folder=str(Path(__file__).parent))
    env = {**os.environ, **same_packages()}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert done.stdout.startswith("PASSED"), done.stdout + done.stderr
