"""Measuring real compiles: what is found, what is left behind, and what a failure says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fictl.errors import FictlError, SetupError
from fictl.jit import JitSpec, Template, gen_jit_spec
from fictl.jit.build import plan_build
from fictl.jit.build_time import device_trace
from fictl.jit.build_time.measure import measure
from fictl.jit.build_time.report import BuildTime
from fictl.jit.progress import LogObserver
from fictl.jit.store.stores import writable_store

pytestmark = pytest.mark.needs_nvcc

_KERNEL = '#include "twice.cuh"\nvoid f(float* x) { twice<<<1, 1>>>(x); }\n'


@pytest.fixture
def spec(tmp_path: Path, cpp) -> JitSpec:
    """A kernel in a header of the project, and a host unit that includes one of the system's."""
    folder = tmp_path / "op"
    folder.mkdir()
    (folder / "twice.cuh").write_text("__global__ void twice(float* x) { *x *= 2; }\n")
    (folder / "launcher.cu").write_text(_KERNEL)
    (folder / "binding.cpp").write_text(cpp(above="#include <string>"))
    return gen_jit_spec("m", [folder / "launcher.cu", folder / "binding.cpp"])


def _measured(spec: JitSpec) -> BuildTime:
    built = spec.build()
    return measure(plan_build(spec), built, LogObserver())


@pytest.fixture(scope="module")
def remembered() -> list[BuildTime]:
    return []


@pytest.fixture
def time(spec: JitSpec, remembered: list[BuildTime]) -> BuildTime:
    """What `spec` takes, measured once for all tests."""
    if not remembered:
        remembered.append(_measured(spec))
    return remembered[0]


def test_every_unit_and_the_link_have_their_phases(time: BuildTime) -> None:
    names = {(phase.unit, phase.name) for phase in time.phases}
    assert {
        ("launcher.cu", "cicc"),
        ("launcher.cu", "ptxas"),
        ("launcher.cu", "host compiler"),
        ("binding.cpp", "parse"),
        ("", "link"),
    } <= names
    assert time.seconds == pytest.approx(sum(phase.seconds for phase in time.phases))
    assert next(phase.arch for phase in time.phases if phase.name == "cicc") == "8.0"


def test_headers_are_named_as_one_includes_them_with_what_they_cost(time: BuildTime) -> None:
    headers = {(header.unit, header.name): header for header in time.headers}
    runtime = headers["launcher.cu", "cuda_runtime.h"]
    assert (runtime.includer, runtime.lines > 1000) == ("", True)
    assert (runtime.seconds or 0) > 0
    assert headers["launcher.cu", "twice.cuh"].includer == "launcher.cu"
    (string,) = [header for (_, name), header in headers.items() if name.endswith("/string")]
    assert (string.unit, string.includer, string.measured) == (
        "binding.cpp",
        "binding.cpp",
        "alone",
    )
    assert (string.seconds or 0) > 0


def test_kernels_are_named_where_nvcc_can_trace(time: BuildTime, real_nvcc) -> None:
    names = [kernel.name for kernel in time.kernels]
    assert any("twice" in name for name in names) is device_trace.supported(real_nvcc)


def test_an_nvcc_that_cannot_trace_compiles_the_heaviest_headers_alone(
    spec: JitSpec, monkeypatch
) -> None:
    monkeypatch.setattr(device_trace, "supported", lambda _: False)
    time = _measured(spec)
    runtime = next(header for header in time.headers if header.name == "cuda_runtime.h")
    assert runtime.measured == "alone"
    assert time.kernels == ()


def test_a_cache_of_compilers_is_not_what_is_measured(spec: JitSpec, compiled) -> None:
    spec.build()
    before = compiled()
    _measured(spec)
    assert compiled() == before


def test_nothing_is_published_and_nothing_is_left(spec: JitSpec, listing) -> None:
    built = spec.build()
    module_dir = writable_store().module_dir(spec.project, spec.name)
    entries = listing(built.path)
    measure(plan_build(spec), built, LogObserver())
    assert listing(built.path) == entries
    assert [entry.path for entry in writable_store().entries(spec.project, spec.name)] == [
        built.path
    ]
    assert list((module_dir / "staging").iterdir()) == []


def test_the_last_edit_is_told_by_source(spec: JitSpec, time: BuildTime) -> None:
    assert time.last_edit is None
    spec.build()
    spec.sources[0].write_text(_KERNEL + "// edited\n")
    edit = _measured(spec).last_edit
    assert edit is not None
    assert (edit.changed, list(edit.units)) == (("launcher.cu",), ["launcher.cu"])


def test_a_template_is_rendered_for_the_measurement(spec: JitSpec) -> None:
    (spec.base / "config.jinja").write_text("constexpr int factor = {{ factor }};\n")
    spec.sources[0].write_text('#include "config.inc"\nint twice() { return factor; }\n')
    template = Template(spec.base / "config.jinja", "config.inc", {"factor": 2})
    headers = _measured(replace(spec, template=template)).headers
    assert ("config.inc", "launcher.cu") in {(each.name, each.includer) for each in headers}


def test_a_source_that_broke_since_is_diagnosed(spec: JitSpec) -> None:
    built = spec.build()
    spec.sources[1].write_text('#error "half done"\n')
    with pytest.raises(FictlError, match=r"m cannot be timed: .*half done"):
        measure(plan_build(spec), built, LogObserver())


def test_where_compiling_is_forbidden_nothing_is_measured(spec: JitSpec, monkeypatch) -> None:
    built, plan = spec.build(), plan_build(spec)
    monkeypatch.setenv("FICTL_DISABLE_JIT", "1")
    with pytest.raises(SetupError, match="FICTL_DISABLE_JIT forbids to compile"):
        measure(plan, built, LogObserver())
