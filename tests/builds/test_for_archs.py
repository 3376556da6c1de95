"""An op with a backend for Hopper alone: which of its modules are built for which architectures."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.arch import Arch, parse_archs
from fictl.builds.building import build, plan, specs_of
from fictl.builds.for_archs import for_archs
from fictl.errors import SetupError, UsageError
from fictl.inspect.report import InspectRequest, report
from fictl.jit.progress import LogObserver
from fictl.toolchain import Gpu, Probe, find_tool

_OP = '''"""twice: a number, doubled."""

from __future__ import annotations

from fictl.op import KernelModule, op

from .jit import module

kernel = KernelModule(module)


@op(
    archs=">=8.0", dtypes="i32", devices="cuda emu", mutates="",
    backends={"sm80": ">=8.0", "sm90": "9.0a"},
)
def twice(input: int, backend: str = "auto") -> int:
    """input * 2."""
    return int(kernel[backend].twice(input))
'''
_JIT = '''"""The modules of twice."""

from __future__ import annotations

from collections.abc import Iterator

from fictl.jit import JitSpec
from fictl.op import module_spec


def module(backend: str) -> JitSpec:
    return module_spec(__file__, backend=backend, max_spill_bytes=0)


def aot() -> Iterator[JitSpec]:
    for backend in (BACKENDS):
        yield module(backend)
'''
_HOPPER = """#include <tiny/elementwise/twice.cuh>

namespace tiny::elementwise {

__global__ void __launch_bounds__(128, 1) ProductKernel(float* out, unsigned long a) {
  float d[4] = {};
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0,%1,%2,%3}, %4, %4, 1, 1, 1, 0, 0;"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "l"(a));
  asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
  out[threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}

int twice(int value) { return 2 * value; }

}  // namespace tiny::elementwise
"""
_BOTH = '"sm80", "sm90"'


@pytest.fixture
def twice(tiny: Path) -> Path:
    """The op's folder, with two backends."""
    folder = tiny / "kernels" / "elementwise" / "twice"
    (folder / "launcher.cu").rename(folder / "launcher_sm80.cu")
    (folder / "launcher_sm90.cu").write_text(_HOPPER)
    (folder / "op.py").write_text(_OP)
    (folder / "jit.py").write_text(_JIT.replace("BACKENDS", _BOTH))
    return folder


def _launchers(specs):
    return [spec.sources[0].name for spec in specs]


@pytest.mark.parametrize(
    ("archs", "launchers"),
    [
        ("8.0", ["launcher_sm80.cu"]),
        ("9.0a", ["launcher_sm80.cu", "launcher_sm90.cu"]),
        ("8.0 9.0a", ["launcher_sm80.cu", "launcher_sm90.cu"]),
        ("12.0a", ["launcher_sm80.cu"]),
    ],
)
def test_backends_for_other_architectures_are_left_out_with_a_note(twice, archs, launchers):
    notes = []
    kept = for_archs(specs_of(["twice"]), parse_archs(archs), notes.append)
    assert _launchers(kept) == launchers
    left = [f"launcher_sm90.cu is left out: elementwise.twice is for 9.0a, not for {archs} (flag)"]
    assert notes == (left if len(launchers) == 1 else [])


@pytest.mark.needs_nvcc
def test_an_op_with_no_backend_for_them_says_so(twice):
    (twice / "jit.py").write_text(_JIT.replace("BACKENDS", '"sm90",'))
    assert _launchers(for_archs(specs_of(["twice"]), parse_archs("8.0"))) == ["launcher_sm90.cu"]
    with pytest.raises(UsageError, match=r"twice is for 9\.0a, not for 8\.0 \(flag\)"):
        plan(["twice"], parse_archs("8.0"))


def test_on_the_emulated_device_there_are_all(twice, monkeypatch):
    monkeypatch.setenv("FICTL_DEVICE", "emu")
    assert len(for_archs(specs_of(["twice"]), ())) == 2


@pytest.mark.needs_nvcc
def test_without_a_gpu_each_backend_is_planned_for_its_own_targets(twice, monkeypatch):
    monkeypatch.delenv("FICTL_CUDA_ARCH_LIST", raising=False)
    monkeypatch.setattr("fictl.toolchain.arch_request.probe", lambda: Probe(()))
    old, new = plan(["twice"], ())
    assert (old.archs, old.origin) == (("8.0",), "fictl.toml")
    assert (new.archs, new.origin) == (("9.0a",), "op")
    flags = " ".join(new.flags["nvcc"])
    assert "-gencode=arch=compute_90a,code=sm_90a" in flags
    assert "sm_80" not in flags


@pytest.mark.needs_nvcc
def test_a_hopper_backend_is_built_and_inspected(twice):
    old, new = build(["twice"], parse_archs("8.0 9.0a"), LogObserver())
    assert (old.archs, new.archs) == (("8.0", "9.0a"), ("9.0a",))
    assert old.error is new.error is None
    assert (old.module, old.title) == (
        "elementwise.twice",
        "elementwise.twice (launcher_sm80.cu)",
    )
    assert new.title == "elementwise.twice (launcher_sm90.cu)"
    if find_tool("nvdisasm") is None:
        return
    asked = InspectRequest(
        ("twice",), parse_archs("9.0a"), "Product", ("HGMMA==1, spill_bytes==0, remarks==0",)
    )
    shown = report(asked, LogObserver())
    assert (shown.exit_code, shown.violations) == (0, ())
    assert [one.module for one in shown.modules] == [new.title]


@pytest.mark.needs_nvcc
def test_a_serialised_product_fails_the_build_of_its_backend_alone(twice):
    launcher = twice / "launcher_sm90.cu"
    lines = _HOPPER.replace("  out[threadIdx.x]", "  d[0] = out[7];\n  out[threadIdx.x]")
    launcher.write_text(lines.replace(" wgmma.wait_group.sync.aligned 0;", ""))
    old, new = build(["twice"], parse_archs("9.0a"), LogObserver())
    assert old.error is None
    assert "kernels/elementwise/twice/launcher_sm90.cu:" in new.error.message
    assert "tiny::elementwise::ProductKernel: ptxas C75" in new.error.message
    assert new.error.exit_code == 1


@pytest.fixture
def a100(monkeypatch):
    probe = Probe((Gpu(0, "NVIDIA A100", Arch(8, 0)),))
    monkeypatch.delenv("FICTL_CUDA_ARCH_LIST", raising=False)
    monkeypatch.setattr("fictl.toolchain.arch_request.probe", lambda: probe)


def test_on_another_gpu_the_backend_for_it_is_left(twice, a100):
    assert _launchers(for_archs(specs_of(["twice"]), ())) == ["launcher_sm80.cu"]


@pytest.mark.needs_nvcc
def test_a_gpu_that_the_only_backend_is_not_for_is_named(twice, a100):
    (twice / "jit.py").write_text(_JIT.replace("BACKENDS", '"sm90",'))
    with pytest.raises(SetupError, match=r"is for 9\.0a, not for the GPUs present, NVIDIA A100"):
        plan(["twice"], ())
