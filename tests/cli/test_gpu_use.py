"""Commands on a GPU that another run uses: what measures has it alone, tests share it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from fictl.arch import Arch
from fictl.toolchain import Gpu
from tests.cli.solution.test_run import DEFINITION, SOLUTION
from tests.gpu_lock.holders import Holder

UUIDS = ("aaaa", "bbbb")
GPUS = tuple(Gpu(at, "NVIDIA H200", Arch(9, 0), uuid) for at, uuid in enumerate(UUIDS))
ALONE = {
    "bench": "bench twice",
    "tune": "tune twice",
    "profile": "profile twice",
    "compare": "compare --baseline --op twice",
    "solution run": "solution run solution.json -d definition.json --axes n=8",
    "solution profile": "solution profile solution.json -d definition.json --axes n=8",
    "replay": "replay --under bench dumps",
}
TOGETHER = {
    "test": "test twice --case correct_1",
    "sanitize": "sanitize twice",
    "solution sanitize": "solution sanitize solution.json -d definition.json --axes n=8",
    "trace run": "trace run definition.json",
}
EVERY = {**ALONE, **TOGETHER}


@contextmanager
def used(keys: str, *, shared: bool = False) -> Iterator[Holder]:
    holder = Holder(keys, shared=shared)
    try:
        assert holder.line() == "held"
        yield holder
    finally:
        holder.popen.kill()
        with holder.popen:
            pass


@pytest.fixture
def two_gpus(
    tiny: Path, monkeypatch: pytest.MonkeyPatch, program: Callable[[str, str], Path]
) -> Path:
    for module in ("fictl.toolchain", "fictl.toolchain.gpus"):
        monkeypatch.setattr(f"{module}.visible_gpus", lambda: GPUS)
    monkeypatch.setattr("fictl.tune.plan.visible_gpus", lambda: GPUS)
    monkeypatch.setattr("fictl.cli.profile._require_device", lambda *words: None)
    monkeypatch.setattr("fictl.tune.plan.plan", lambda *words: [])
    monkeypatch.setattr("fictl.replay.dump.find_dumps", lambda dumps: [])
    program("compute-sanitizer", "echo Version 2025.3.1.0")
    (tiny / "definition.json").write_text(json.dumps(DEFINITION))
    (tiny / "solution.json").write_text(json.dumps(SOLUTION))
    return tiny


@pytest.mark.parametrize("name", EVERY)
def test_a_gpu_that_is_measured_on_is_left_to_that(two_gpus: Path, fictl, name: str) -> None:
    device = () if name == "solution profile" else ("--device", "cuda")
    with used(UUIDS[0]) as other:
        answer = fictl(*EVERY[name].split(), *device, "--wait", "0")
    assert answer.code == 3, answer
    assert "GPU 0 is used by" in answer.err
    assert f"pid {other.popen.pid}" in answer.err


@pytest.mark.parametrize("name", EVERY)
def test_beside_tests_there_are_only_tests(
    two_gpus: Path, fictl, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    device = () if name == "solution profile" else ("--device", "cuda")
    with used(UUIDS[0], shared=True):
        answer = fictl(*EVERY[name].split(), *device, "--wait", "0")
    assert ("GPU 0 is used by" in answer.err) == (name in ALONE)


@pytest.mark.parametrize("words", [("-n", "auto"), ("--gpus", "2")])
def test_tests_on_several_gpus_need_all_of_them(
    two_gpus: Path, fictl, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    ran: list[object] = []
    monkeypatch.setattr(
        "fictl.testing.runner.request.TestRequest.run", lambda *each: ran.append(each) or _PASSED
    )
    with used(UUIDS[1]):
        answer = fictl("test", "twice", "--wait", "0", *words)
        assert answer.code == 3
        assert "GPU 1 is used by" in answer.err
        assert not ran
        # One process is on the first GPU.
        assert fictl("test", "twice", "--wait", "0").code == 0
    assert fictl("test", "twice", "--wait", "0", *words).code == 0
    assert len(ran) == 2


_PASSED = SimpleNamespace(
    exit_code=0, to_dict=dict, failed=(), out_of_memory=(), schedules=(), passed=1, device="cuda",
    seconds=0.1, skipped={}, gpus="",
)  # fmt: off


def test_the_emulated_device_and_stored_results_take_no_gpu(two_gpus: Path, fictl) -> None:
    with used(",".join(UUIDS)):
        answer = fictl("bench", "twice", "--device", "emu", "--dry-run", "--wait", "0")
        assert answer.code == 0, answer.err
        answer = fictl("bench", "twice", "--dry-run", "--wait", "0", "--device", "cuda")
        assert answer.code == 0, answer.err
        Path("a.json").write_text("{}")
        Path("b.json").write_text("{}")
        answer = fictl("compare", "a.json", "b.json", "--wait", "0")
    assert "is used by" not in answer.err


def test_a_command_of_its_own_process_waits_says_for_whom_and_goes_on(
    tiny: Path, tmp_path: Path
) -> None:
    """With a driver that shows GPUs, as on a machine that has them."""
    source = Path(__file__).parents[1] / "toolchain" / "fake_libcuda.cpp"
    library = tmp_path / "libcuda.so.1"
    subprocess.run(["g++", "-shared", "-fPIC", source, "-o", library], check=True)
    variables = {
        "LD_LIBRARY_PATH": str(tmp_path),
        "FAKE_CUDA_GPUS": "90 90",
        "FAKE_CUDA_UUIDS": "ab cd",
        "CUDA_VISIBLE_DEVICES": "3,1",
    }
    uuid = "abababab-abab-abab-abab-abababababab"
    argv = [sys.executable, "-m", "fictl", "trace", "run", "nowhere.json", "--device", "cuda"]
    with (
        used(uuid) as other,
        subprocess.Popen(
            argv, env={**os.environ, **variables}, stderr=subprocess.PIPE, text=True
        ) as popen,
    ):
        assert popen.stderr is not None
        note = popen.stderr.readline()
        assert note.startswith("GPU 3 is used by ")
        assert note.endswith(": waiting for it\n")
        other.free()
        # It went on, and met what it was asked for.
        assert "nowhere.json" in popen.stderr.read()
    assert popen.returncode == 2


def test_a_demo_hands_its_patience_on(fictl, monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    ran: list[list[str]] = []
    monkeypatch.setattr("fictl.cli.demo._run", lambda words, folder: ran.append(words))
    monkeypatch.setattr("fictl.toolchain.visible_gpus", lambda: GPUS)
    assert fictl("demo", str(tmp_path / "new" / "my_kernels"), "--wait", "5").code == 0
    assert [words[:-1] for words in ran[-2:]] == [["test", "--wait", "5"], ["bench", "--wait", "5"]]
