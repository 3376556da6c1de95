"""Collecting: what is accepted, what is written when, in how much memory, by how many processes."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from fictl.errors import FictlError
from fictl.tracing import (
    TracingConfig,
    TracingConfigRegistry,
    TracingRuntime,
    WorkloadEntry,
    disable_tracing,
    enable_tracing,
)

from .samples import PAGED, definition, folder, paged, workloads

FIRST_TWO = TracingConfig("dump_none", "keep_first_k", {"k": 2})
ALL = TracingConfig(filter_policy="keep_all")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return folder(tmp_path / "ds", definition("def1"), definition("def2", "m"), PAGED)


def test_runtimes_are_nested_and_stop_in_order(root: Path) -> None:
    assert TracingRuntime.current() is None
    first, second = TracingRuntime(root), TracingRuntime(root)
    first.start().start()
    assert TracingRuntime._stack == [first]
    second.start()
    with pytest.raises(FictlError, match="another runtime") as caught:
        first.stop()
    assert "LIFO" in caught.value.hint
    first.start()
    assert TracingRuntime._stack == [first, second, first]
    for _ in range(3):
        disable_tracing()
    disable_tracing()
    with TracingRuntime(root) as third:
        assert TracingRuntime.current() is third
    assert TracingRuntime.current() is None


def test_each_definition_and_each_runtime_has_its_own_policy(root: Path) -> None:
    registry = TracingConfigRegistry(per_definition={"def1": FIRST_TWO, "def2": FIRST_TWO})
    one, other = TracingRuntime(root, registry), TracingRuntime(root, registry)
    for runtime in (one, other):
        runtime.collect("def1", (torch.ones(3),))
        runtime.collect("def2", (torch.ones(3),))
    policies = [*one.policies.values(), *other.policies.values()]
    assert len({*map(id, policies)}) == 4
    one.policies["def1"].submit(WorkloadEntry("def1", {"n": 10}))
    assert [len(policy.entries) for policy in policies] == [2, 1, 1, 1]


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [((torch.ones(5),), {}), ((), {"x": torch.ones(5)}), ((torch.ones(5), torch.ones(5)), {})],
    ids=["positional", "named", "with outputs"],
)
def test_inputs_of_every_style_are_collected(root: Path, args: Any, kwargs: Any) -> None:
    runtime = TracingRuntime(root, FIRST_TWO)
    assert runtime.collect("def1", args, kwargs).accepted
    (entry,) = runtime.policies["def1"].entries
    assert entry.axes == {"n": 5}


@pytest.mark.parametrize(
    ("name", "args", "words"),
    [
        ("def1", (torch.ones(5),) * 3, "at most|instead of"),
        ("def1", (), "instead of"),
        ("def1", (torch.ones(5, 5),), "2 dimensions"),
        ("gone", (torch.ones(5),), "no definition"),
        ("def2", (torch.ones(5),), "not_configured"),
    ],
    ids=["many", "few", "rank", "unknown", "unconfigured"],
)
def test_what_does_not_fit_is_refused_and_nothing_is_raised(
    root: Path, name: str, args: Any, words: str
) -> None:
    import re

    runtime = TracingRuntime(root, {"def1": FIRST_TWO})
    result = runtime.collect(name, args)
    assert not result.accepted
    assert re.search(words, result.reason)
    assert not any(policy.entries for policy in runtime.policies.values())


def test_online_the_policy_decides_before_values_are_copied(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copies: list[Any] = []
    from fictl.tracing import runtime as module

    monkeypatch.setattr(module, "snapshot", lambda *args: copies.append(args) or {})
    runtime = TracingRuntime(root, TracingConfig(filter_policy="keep_first_by_axes"))
    for _ in range(5):
        runtime.collect("paged", paged(3, 2))
    assert len(copies) == 1


def test_a_context_writes_a_workload_set(root: Path) -> None:
    with enable_tracing(root) as runtime:
        for n in (10, 20, 10):
            runtime.collect("def1", (torch.ones(n),))
    traces = workloads(root, "def1")
    assert [trace.workload.axes for trace in traces] == [{"n": 10}, {"n": 20}]
    assert all(trace.is_workload_trace() for trace in traces)
    assert traces[0].workload.inputs["x"].type == "random"
    assert (runtime.written.workloads, runtime.written.known) == (2, 0)


def test_attention_keeps_its_lengths_as_numbers_and_its_tables_as_values(root: Path) -> None:
    with enable_tracing(root) as runtime:
        runtime.collect("paged", paged(3, 2))
    (trace,) = workloads(root, "paged")
    inputs = trace.workload.inputs
    assert trace.workload.axes == {"batch": 2, "offsets": 3, "pages": 5}
    assert {name: spec.type for name, spec in inputs.items()} == {
        "q": "random",
        "kv_indptr": "safetensors",
        "kv_indices": "safetensors",
        "sm_scale": "scalar",
    }
    assert trace.workload.model_extra == {"fictl": {"lengths": {"kv_indptr": [3, 2]}}}
    blob = load_file(root / inputs["kv_indptr"].path)  # type: ignore[union-attr]
    assert blob["kv_indptr"].tolist() == [0, 3, 5]


def test_the_dataset_is_valid(root: Path) -> None:
    from fictl.trace import TraceSet
    from fictl.trace.dataset.check import validate
    from fictl.trace.dataset.check.scope import Scope

    with enable_tracing(root, ALL) as runtime:
        runtime.collect("paged", paged(3, 2))
        runtime.collect("paged", paged(1, 1))
    findings = validate(Scope(TraceSet.from_path(root).files))
    assert [finding for finding in findings if finding.level == "error"] == []
    assert len(workloads(root, "paged")) == 2


def test_processes_do_not_add_what_others_have(root: Path) -> None:
    for _ in range(2):  # Two ranks: each has a policy of its own, and sees the same sizes.
        with TracingRuntime(root) as runtime:
            runtime.collect("def1", (torch.ones(10),))
            runtime.collect("paged", paged(3, 2))
    assert len(workloads(root)) == 2
    assert (runtime.written.workloads, runtime.written.known) == (0, 2)
    by_lengths = TracingConfig(filter_policy="keep_first_by_lengths")
    with TracingRuntime(root, by_lengths) as runtime:
        runtime.collect("paged", paged(3, 2))
        runtime.collect("paged", paged(300, 200))
    assert len(workloads(root, "paged")) == 2


def test_full_memory_is_written_and_goes_on(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from fictl.tracing import runtime as module

    monkeypatch.setenv("FICTL_TRACING_MAX_MB", "1")
    monkeypatch.setattr(module, "_MEGABYTE", 4096)
    runtime = TracingRuntime(root, TracingConfig("dump_all", "keep_all"))
    most = 0
    for n in range(20):
        runtime.collect("def1", (torch.full((250,), float(n)),))
        held = sum(entry.size for entry in runtime.policies["def1"].entries)
        most = max(most, held)
    assert most <= 4096
    assert len(workloads(root, "def1")) >= 16
    runtime.flush()
    assert len(workloads(root, "def1")) == 20


def test_a_call_that_is_too_large_and_a_sample_that_is_full_are_left_out(
    root: Path, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    from fictl.tracing import runtime as module

    monkeypatch.setattr(module, "_MEGABYTE", 16)
    runtime = TracingRuntime(root, TracingConfig("dump_all", "sample"))
    assert not runtime.collect("def1", (torch.ones(1000),)).accepted
    assert "FICTL_TRACING_MAX_MB is 256" in caplog.text
    results = [runtime.collect("def1", (torch.ones(200),)).reason for _ in range(10)]
    assert results[-1] == "memory is full"


def test_threads_lose_nothing(root: Path) -> None:
    runtime = TracingRuntime(root, ALL).start()

    def collect(first: int) -> None:
        for n in range(first, first + 25):
            runtime.collect("def1", (torch.ones(n),))
            if n % 10 == 0:
                runtime.flush()

    threads = [threading.Thread(target=collect, args=(100 * n + 1,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    runtime.stop()
    assert len({trace.workload.axes["n"] for trace in workloads(root)}) == 100


def _child(root: Path, after_fork: Any) -> int:
    """Run a function in a fork; its status."""
    pid = os.fork()
    if pid == 0:
        after_fork()
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_a_fork_writes_its_own_calls_and_not_its_parents(root: Path) -> None:
    runtime = TracingRuntime(root, ALL).start()
    runtime.collect("def1", (torch.ones(1),))

    def child() -> None:
        runtime.collect("def1", (torch.ones(2),))
        runtime.flush()

    assert _child(root, child) == 0
    assert [trace.workload.axes["n"] for trace in workloads(root)] == [2]
    runtime.stop()
    assert [trace.workload.axes["n"] for trace in workloads(root)] == [2, 1]


def test_sigterm_writes_and_ends_as_before(root: Path) -> None:
    from fictl.tracing import saving_at_end

    def child() -> None:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        saving_at_end._registered.clear()
        runtime = TracingRuntime(root, ALL).start()
        runtime.collect("def1", (torch.ones(7),))
        os.kill(os.getpid(), signal.SIGTERM)

    assert _child(root, child) == -signal.SIGTERM
    assert [trace.workload.axes["n"] for trace in workloads(root)] == [7]


def test_a_handler_of_the_program_stays(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from fictl.tracing import saving_at_end

    monkeypatch.setattr(saving_at_end, "_registered", [])
    monkeypatch.setattr(saving_at_end.atexit, "register", lambda function: None)
    monkeypatch.setattr(saving_at_end.os, "register_at_fork", lambda **forks: None)
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        TracingRuntime(root).start()
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, before)


def test_a_definition_that_differs_from_the_datasets_is_left_out(root: Path, caplog: Any) -> None:
    runtime = TracingRuntime(root)
    changed = definition("def1").model_copy(update={"op_type": "other"})
    runtime.definitions["def1"] = changed
    runtime.submit(changed, {"n": 3}, {"x": torch.ones(3)})
    runtime.flush()
    assert workloads(root) == []
    assert "workloads of def1 are left out" in caplog.text


def test_a_crash_between_blob_and_line_leaves_a_dataset_that_can_be_read(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fictl.trace import TraceSet

    def crash(*args: Any) -> None:
        raise OSError(28, "No space left on device")

    runtime = TracingRuntime(root)
    runtime.collect("paged", paged(3, 2))
    with monkeypatch.context() as full:
        full.setattr(TraceSet, "add_workloads", crash)
        with pytest.raises(FictlError, match="No space left"):
            runtime.flush()
    assert workloads(root) == []
    assert runtime.flush().workloads == 1  # What could not be written was held on.


def test_an_open_umask_makes_no_folder_that_others_can_write(tmp_path: Path) -> None:
    os.umask(0o000)
    root = tmp_path / "new" / "ds"
    runtime = TracingRuntime(root, ALL)
    for n in (1, 2):
        runtime.define(definition("def1"))
        runtime.collect("def1", (torch.ones(n),))
        runtime.flush()
    assert len(workloads(root)) == 2


@pytest.mark.parametrize("change", ["mode", "link"])
def test_a_folder_that_others_lead_elsewhere_is_refused(root: Path, change: str) -> None:
    if change == "mode":
        root.chmod(0o777)
    else:
        (root / "workloads").symlink_to("/tmp")
    with pytest.raises(FictlError, match=r"can be written by others|is a link"):
        TracingRuntime(root)


def test_no_folder_is_taken_that_nobody_named(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FictlError, match="no folder is named"):
        enable_tracing()
    monkeypatch.setenv("FICTL_TRACING", str(root / "new"))
    monkeypatch.setenv("FICTL_TRACING_POLICY", "keep_all")
    assert enable_tracing().configs.default == TracingConfig(filter_policy="keep_all")
