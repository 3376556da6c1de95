"""The call log says what a call was given before it runs, and how it ended; each level adds to it."""

from __future__ import annotations

import enum
import importlib
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import torch

from fictl.emu.toolchain import current_toolchain
from fictl.op import Op, op
from fictl.op.ffi.emulated import KernelDefect
from fictl.op.run_of_class import RunOfClass
from fictl.op.watch.call import remembering
from fictl.op.watch.call_log import CallLog
from fictl.op.watch.log_destination import LogDestination
from fictl.op.watch.observed import observed
from fictl.op.watch.observers import observers
from fictl.project import Project, mount

_HEAD = re.compile(
    r"fictl \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} pid=\d+ rank=\S+ #\d+ \w+ stream=\S+ (.*)"
)


class Mode(enum.Enum):
    FAST = 1


def double(x: Any, factor: float = 2.0, out: Any = None) -> Any:
    if out is None:
        return x * factor
    torch.mul(x, factor, out=out)
    return None


def declared(function: Callable[..., Any]) -> Op:
    made: Op = op(archs=">=8.0", dtypes="f32", mutates="out")(function).op  # type: ignore[attr-defined]
    return made


@pytest.fixture
def log(tmp_path: Path) -> Callable[..., Any]:
    """Call a function that is watched, and return the lines without what they all begin with."""

    def call(function: Callable[..., Any], level: int, *args: Any, **kwargs: Any) -> list[str]:
        watcher = CallLog(level, LogDestination(f"{tmp_path}/log"), kwargs.pop("sync", False))
        with suppress(ValueError, TypeError):
            observed(function, declared(function), [watcher])(*args, **kwargs)
        lines = (tmp_path / "log").read_text().splitlines()
        return [match[1] for match in map(_HEAD.fullmatch, lines) if match or pytest.fail(lines)]

    return call


@pytest.fixture
def on_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the tensors of this test for a GPU's, on which nothing is captured."""
    monkeypatch.setattr("fictl.op.watch.call_log._gpu", lambda values: torch.device("cuda", 0))
    monkeypatch.setattr("fictl.op.watch.call_log._stream", lambda gpu: "0x7f")
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: False)


def without_time(lines: list[str]) -> list[str]:
    return [re.sub(r"\d+\.\d us", "T us", line) for line in lines]


def test_level_1_is_one_line_a_call(log: Any) -> None:
    assert log(double, 1, torch.ones(3)) == ["call"]


def test_level_3_adds_what_went_in_and_came_out_and_how_long_it_took(log: Any) -> None:
    assert without_time(log(double, 3, torch.ones(2, 3))) == [
        "call | x=f32[2,3] contiguous cpu | factor=2.0 | out=None",
        "done in T us | result=f32[2,3] contiguous cpu",
    ]


def test_level_5_adds_statistics_of_inputs_and_of_what_was_written(log: Any) -> None:
    x, out = torch.tensor([1.0, float("nan")]), torch.zeros(2)
    lines = without_time(log(double, 5, x, out=out))
    assert lines[1:] == [
        "x: min 1 max 1 mean 1 nan 1 inf 0",
        "out: min 0 max 0 mean 0 nan 0 inf 0",
        "done in T us",
        "out: min 2 max 2 mean 2 nan 1 inf 0",
    ]


def test_a_result_that_is_an_argument_too_has_its_statistics_once(log: Any) -> None:
    def returns_it(x: Any, out: Any) -> Any:
        return out

    lines = log(returns_it, 5, torch.ones(1), torch.ones(1))
    assert [line.split(":")[0] for line in lines if "min" in line] == ["x", "out", "result"]


def test_an_error_is_logged_with_all_its_lines(log: Any) -> None:
    def refuse(x: Any) -> None:
        raise ValueError("no\nhint: yes")

    assert without_time(log(refuse, 1, 1)) == [
        "call",
        "failed after T us: ValueError: no",
        "hint: yes",
    ]


def test_arguments_that_do_not_fit_are_the_calls_own_error(log: Any) -> None:
    lines = log(double, 3, nothing=1)
    assert lines[0] == "call"
    assert "TypeError: double() got an unexpected keyword argument 'nothing'" in lines[1]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (torch.ones(2, 3).t(), "f32[3,2] strides[1,3] cpu"),
        (torch.ones(4, dtype=torch.uint16), "uint16[4] contiguous cpu"),
        (torch.ones(2, device="meta"), "f32[2] contiguous meta"),
        (1e-6, "1e-06"),
        ("a\nb", r"'a\nb'"),
        ("a" * 100, f"'{'a' * 80}'…"),
        (Mode.FAST, "Mode.FAST"),
        (torch.bfloat16, "torch.bfloat16"),
        ([1, (True, None)], "[1, (True, None)]"),
        ({"a": torch.ones(1)}, "{'a': f32[1] contiguous cpu}"),
        (list(range(100)), "[0, 1, 2, 3, 4, 5, 6, 7, … 92 more]"),
        (object(), "object"),
    ],
)
def test_a_value_is_said_shortly_on_one_line(log: Any, value: Any, said: str) -> None:
    def take(x: Any) -> None:
        return None

    assert log(take, 3, value)[0] == f"call | x={said}"


def test_tensors_in_a_list_have_statistics_too(log: Any) -> None:
    def take(x: Any) -> None:
        return None

    assert log(take, 5, [torch.ones(1), torch.zeros(1)])[1:3] == [
        "x[0]: min 1 max 1 mean 1 nan 0 inf 0",
        "x[1]: min 0 max 0 mean 0 nan 0 inf 0",
    ]


def test_while_a_graph_is_captured_nobody_asks_the_gpu(
    log: Any, on_gpu: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: True)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda device: pytest.fail("it waited"))
    lines = log(double, 5, torch.ones(1), sync=True)
    assert lines[1] == lines[3] == "statistics: not while a graph is captured"


@pytest.mark.parametrize(
    ("healthy", "said"),
    [(0, "work queued before it failed: "), (1, "failed on the GPU: ")],
)
def test_a_fault_on_the_gpu_is_raised_at_its_own_call(
    log: Any, on_gpu: None, monkeypatch: pytest.MonkeyPatch, healthy: int, said: str
) -> None:
    waits: list[Any] = []

    def synchronize(device: Any) -> None:
        waits.append(device)
        if len(waits) > healthy:
            raise ValueError("illegal memory access")

    monkeypatch.setattr(torch.cuda, "synchronize", synchronize)
    lines = log(double, 1, torch.ones(1), sync=True)
    assert lines == ["call", f"{said}ValueError: illegal memory access"]


def test_a_gpu_that_has_failed_costs_the_statistics_not_the_log(
    log: Any, on_gpu: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ask() -> bool:
        raise ValueError("illegal memory access")

    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", ask)
    lines = without_time(log(double, 5, torch.ones(1)))
    assert lines[1] == lines[3] == "no statistics: ValueError: illegal memory access"


def test_sync_shows_the_duration_at_level_1(log: Any) -> None:
    assert without_time(log(double, 1, torch.ones(1), sync=True)) == ["call", "done in T us"]


def test_cuda_is_left_alone_without_a_cuda_tensor(log: Any) -> None:
    log(double, 5, torch.ones(3), sync=True)
    assert not torch.cuda.is_initialized()


def test_calls_of_threads_keep_their_records_whole(tmp_path: Path) -> None:
    watched = observed(double, declared(double), [CallLog(5, LogDestination(f"{tmp_path}/log"))])
    threads = [
        threading.Thread(target=lambda: [watched(torch.ones(8)) for _ in range(20)])
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines = (tmp_path / "log").read_text().splitlines()
    assert len(lines) == 4 * 20 * 4
    assert all(map(_HEAD.fullmatch, lines))


def test_ranks_may_share_a_file(tmp_path: Path) -> None:
    script = tmp_path / "rank.py"
    script.write_text(
        "import torch\n"
        "from fictl.op import op\n"
        "@op(archs='>=8.0', dtypes='f32', mutates='')\n"
        "def twice(x): return 2 * x\n"
        "for _ in range(200): twice(torch.ones(8))\n"
    )
    shared = {**os.environ, "FICTL_LOGLEVEL": "5", "FICTL_LOGDEST": f"{tmp_path}/log"}
    ranks = [
        subprocess.Popen([sys.executable, script], env={**shared, "RANK": rank}) for rank in "01"
    ]
    assert [rank.wait(60) for rank in ranks] == [0, 0]
    lines = (tmp_path / "log").read_text().splitlines()
    assert all(map(_HEAD.fullmatch, lines))
    for rank in "01":
        own = [line for line in lines if f" rank={rank} " in line and "x: min 1" in line]
        assert len(own) == 200


def test_what_a_killed_process_was_given_is_in_the_log(tmp_path: Path) -> None:
    script = tmp_path / "killed.py"
    script.write_text(
        "import os, signal, torch\n"
        "from fictl.op import op\n"
        "@op(archs='>=8.0', dtypes='f32', mutates='')\n"
        "def die(x, eps=1e-6):\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "die(torch.ones(2, 3))\n"
    )
    variables = {"FICTL_LOGLEVEL": "statistics", "FICTL_LOGDEST": f"{tmp_path}/%i.%r", "RANK": "1"}
    child = subprocess.Popen([sys.executable, script], env={**os.environ, **variables})
    assert child.wait(60) == -signal.SIGKILL
    lines = (tmp_path / f"{child.pid}.1").read_text().splitlines()
    assert [_HEAD.fullmatch(line)[1] for line in lines] == [  # type: ignore[index]
        "call | x=f32[2,3] contiguous cpu | eps=1e-06",
        "x: min 1 max 1 mean 1 nan 0 inf 0",
    ]


def test_a_fault_in_a_kernel_is_the_end_of_its_own_call(
    stray: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if current_toolchain() is None:
        pytest.skip("needs a C++ compiler and CUDA's headers")
    monkeypatch.setenv("FICTL_DEVICE", "emu")
    monkeypatch.setenv("FICTL_EMU_CHECK", "1")
    mount(Project.at(stray))
    shift = importlib.import_module("stray").ops.shift
    watched = observed(shift, shift.op, [CallLog(3, LogDestination(f"{tmp_path}/log"))])
    with pytest.raises(KernelDefect):
        watched(torch.zeros(8, dtype=torch.int32), 1)
    first, second, *_ = (tmp_path / "log").read_text().splitlines()
    assert first.endswith("shift stream=- call | input=i32[8] contiguous cpu | by=1 | out=None")
    assert re.search(r"shift stream=- failed after \S+ us: KernelDefect: shift: ", second)


def test_what_plan_was_given_is_logged_with_run(tmp_path: Path) -> None:
    class Sum:
        def plan(self, indptr: Any) -> None:
            pass

        def run(self, x: Any) -> Any:
            return x

    watcher = CallLog(3, LogDestination(f"{tmp_path}/log"))
    run = observed(Sum.run, declared(Sum.run), [watcher])
    run.op = declared(Sum.run)  # type: ignore[attr-defined]
    RunOfClass(run, [remembering]).__set_name__(Sum, "run")
    planned = Sum()
    planned.plan([0, 4])
    planned.run(2.0)
    assert " Sum stream=- call | indptr=[0, 4] | x=2.0\n" in (tmp_path / "log").read_text()


def test_the_settings_decide_level_and_destination(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FICTL_LOGLEVEL", "calls")
    monkeypatch.setenv("FICTL_LOGDEST", f"{tmp_path}/log")
    observers.cache_clear()
    (watcher,) = observers()
    observers.cache_clear()
    observed(double, declared(double), [watcher])(torch.ones(1))
    assert (tmp_path / "log").read_text().count(" double stream=- call\n") == 1
