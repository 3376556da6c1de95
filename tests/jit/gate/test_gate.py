"""Builds that the gate refuses, with real kernels for sm_90a."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from fictl.arch import Arch
from fictl.jit import BuildFailed, gen_jit_spec
from fictl.jit.cache.explain import explain
from fictl.jit.store.stores import writable_store

pytestmark = pytest.mark.needs_nvcc

HERE = Path(__file__).parent
HOPPER = (Arch.parse("9.0a"),)


@pytest.fixture
def spec(tmp_path, monkeypatch):
    """A module with a copy of one of the sources, in the working folder."""
    monkeypatch.chdir(tmp_path)

    def make(name, *flags, **limits):
        source = Path(shutil.copy(HERE / name, tmp_path / name))
        return replace(gen_jit_spec("gated", [source], extra_cuda_cflags=flags), **limits)

    return make


def _objects():
    folder = writable_store().module_dir("local", "gated") / "objects"
    return sorted(path.suffix for path in folder.glob("*")) if folder.is_dir() else []


def _line(name, mark):
    lines = (HERE / name).read_text().splitlines()
    return next(at for at, line in enumerate(lines, 1) if line.endswith(f"// {mark}"))


def test_each_defect_of_a_hopper_kernel_is_named_with_its_line(spec):
    source, made = "wgmma.cu", spec("wgmma.cu", "-DDEFECTS")
    with pytest.raises(BuildFailed) as caught:
        made.build(HOPPER)
    message, hint = caught.value.message, caught.value.hint
    unbound, *others = message.splitlines()[1:]
    assert f"{source}:{_line(source, 'unbound')}: defects::UnboundKernel: ptxas C7508" in unbound
    serialised = next(line for line in others if "serialized" in line)
    assert f"(inlined at {source}:{_line(source, 'serialised')})" in serialised
    assert "defects::TouchedKernel: ptxas C751" in serialised
    assert any(
        f"(inlined at {source}:{_line(source, 'unfenced')}): defects::UnfencedKernel<9>: ptxas C7519"
        in line
        for line in others
    )
    assert "Right" not in message
    assert "__launch_bounds__(THREADS, 1)" in hint
    assert "wgmma.fence before" in hint
    assert "allowed_remarks=('C7508', " in hint
    assert _objects() == []
    with pytest.raises(BuildFailed, match="C7508"):
        made.build(HOPPER)


def test_an_allowed_remark_builds_and_its_object_is_refused_without(spec, compiled):
    allowed = spec("wgmma.cu", "-DDEFECTS", allowed_remarks=("any",))
    assert allowed.build(HOPPER).module.is_file()
    assert _objects() == [".log", ".o"]
    assert len(compiled()) == 1
    for codes in ((), ("C7508", "C7519")):
        with pytest.raises(BuildFailed, match=r"C751\d: wgmma\.mma_async instructions are serial"):
            replace(allowed, allowed_remarks=codes).build(HOPPER)
    assert len(compiled()) == 1


def test_spills_fail_a_build_that_declares_none(spec, compiled):
    made = spec("spilling.cu")
    assert made.build((*HOPPER, Arch.parse("8.0"))).module.is_file()
    assert replace(made, max_spill_bytes=9999).build(HOPPER).module.is_file()
    count = len(compiled())
    with pytest.raises(BuildFailed) as caught:
        replace(made, max_spill_bytes=0).build((*HOPPER, Arch.parse("8.0")))
    first, of_80, of_90 = caught.value.message.splitlines()
    assert "2 defects" in first
    assert all("spilling.cu:2: SpillingKernel: " in line for line in (of_80, of_90))
    assert "spill loads, with 32 registers for 8.0; max_spill_bytes=0" in of_80
    assert "for 9.0a" in of_90
    assert "fictl inspect" in caught.value.hint
    assert len(compiled()) == count


def test_a_limit_is_a_part_of_the_key_that_explain_names(spec):
    made = spec("wgmma.cu")
    made.build(HOPPER)
    limited = replace(made, max_spill_bytes=0)
    explained = explain(limited, HOPPER)
    assert [(change.kind, change.name, change.how) for change in explained.changes] == [
        ("flags", "limits", "now with max_spill_bytes=0")
    ]


@pytest.mark.parametrize("variant", ["FICTL_JIT_DEBUG", "FICTL_JIT_PROFILE"])
def test_variants_with_other_code_are_not_refused(spec, monkeypatch, variant):
    monkeypatch.setenv(variant, "1")
    assert spec("wgmma.cu", "-DDEFECTS", max_spill_bytes=0).build(HOPPER).module.is_file()


def test_kernels_without_a_remark_build(spec):
    assert spec("wgmma.cu", max_spill_bytes=0).build(HOPPER).module.is_file()
