"""Runs whose solutions bring equal sources: one build for all of them, at each machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.dataset.run_jobs import run_dataset
from fictl.dataset.run_options import RunOptions
from fictl.trace import Solution, TraceSet

from .samples import saved, workload

FLAGS = {"iterations": 1, "warmup_runs": 1, "num_trials": 1, "profile_baseline": False}
MAIN = """
# {name}
from pathlib import Path
import torch
from fictl.jit import JitSpec
BASE = Path(__file__).parent / "kernels"
copy = JitSpec("copy", (BASE / "copy.cpp",), base=BASE, fallback_archs="8.0")
def run(x):
    y = torch.empty_like(x)
    copy.build_and_load().copy(x, y)
    return y
"""
COPY = """
#include <tvm/ffi/tvm_ffi.h>
#include <cstring>
static void copy(tvm::ffi::TensorView x, tvm::ffi::TensorView y) {
  std::memcpy(y.data_ptr(), x.data_ptr(), x.size(0) * sizeof(float));
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(copy, copy);
"""
FAR = """
[[place]]
name = "far"
launch = ["sh", "-c", 'exec "$@"', "sh"]
variables = { FICTL_WORKSPACE_BASE = "%s" }
"""


def solution_of(name: str, definition: str) -> Solution:
    spec = {
        "language": "python",
        "target_hardware": ["cpu"],
        "entry_point": "main.py::run",
        "destination_passing_style": False,
    }
    files = {"main.py": MAIN.format(name=name), "kernels/copy.cpp": COPY}
    sources = [{"path": path, "content": text} for path, text in files.items()]
    document = {"name": name, "definition": definition, "author": "me", "spec": spec}
    return Solution.model_validate({**document, "sources": sources})


@pytest.fixture
def equal(dataset: TraceSet) -> TraceSet:
    """Three solutions of two definitions; only their main.py differ."""
    for path in dataset.root.glob("solutions/**/*.json"):
        path.unlink()
    for name, definition in (("a", "scale"), ("b", "scale"), ("c", "mm")):
        dataset.add_solution(solution_of(name, definition))
    dataset.add_workloads("mm", [workload("g1", 9)])
    return TraceSet.from_path(dataset.root)


@pytest.mark.parametrize("where", ["here", "far"])
def test_what_is_equal_is_built_once(equal: TraceSet, tmp_path: Path, where: str) -> None:
    on = tmp_path / "places.toml"
    on.write_text(FAR % (tmp_path / "far"), encoding="utf-8")
    options = RunOptions(device="cpu", flags=FLAGS, jobs=1, on=str(on) if where == "far" else "")
    summary = run_dataset(equal.root, options)
    assert dict(summary.statuses) == {"PASSED": 8}, saved(equal)[0].evaluation.log
    facts = [trace.evaluation.fictl or {} for trace in saved(equal) if trace.evaluation]
    # A second build would have taken another time.
    assert len({fact["build_seconds"] for fact in facts}) == 1
    assert all(fact["spent"] for fact in facts)
    first = [trace for trace in saved(equal) if trace.workload.uuid == "s0"]
    assert {trace.solution for trace in first} == {"a", "b"}
