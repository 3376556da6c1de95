"""A tiny module, tried step by step."""

from __future__ import annotations

import pytest

from fictl import toolchain
from fictl.doctor import Facts, exit_code, facts, probe_run, probes, run
from fictl.paths import cache_root
from fictl.toolchain import find_cxx, find_nvcc


@pytest.fixture
def tried():
    """The findings by name, with the compilers of this machine."""

    def go():
        here = Facts(nvcc=find_nvcc(), cxx=find_cxx())
        return {each.name: each for each in run((probes.probes,), here)}

    return go


def levels(found):
    return [each.level for each in found.values()]


@pytest.mark.needs_nvcc
def test_without_a_gpu_it_goes_as_far_as_loading(tried):
    found = tried()
    assert list(found) == [f"probe: {step}" for step in ("compile", "link", "load", "launch")]
    assert levels(found) == ["ok", "ok", "ok", "warning"]
    assert "for 7.5" in found["probe: compile"].text
    assert found["probe: launch"].text == "not run: there is no GPU"


@pytest.mark.needs_nvcc
def test_nothing_is_left_behind(tried):
    tried()
    assert not list(cache_root().glob("doctor-*"))
    assert not list(cache_root().rglob("module.so"))


@pytest.mark.needs_nvcc
def test_what_does_not_compile_says_why(tried, monkeypatch):
    monkeypatch.setenv("FICTL_EXTRA_CUDAFLAGS", "--no-such-flag")
    found = tried()
    assert levels(found) == ["error", "warning", "warning", "warning"]
    assert "no-such-flag" in found["probe: compile"].text.splitlines()[0]
    assert found["probe: load"].text == "not run: compile failed"
    assert exit_code(found.values()) == 1


@pytest.mark.needs_nvcc
def test_what_does_not_link_is_told_from_what_does_not_compile(tried, monkeypatch):
    monkeypatch.setenv("FICTL_EXTRA_LDFLAGS", "-lno-such-library")
    found = tried()
    assert levels(found) == ["ok", "error", "warning", "warning"]
    assert "no-such-library" in found["probe: link"].text
    assert "repeat:" not in found["probe: link"].fix


def test_a_compiler_that_was_killed_is_the_machines_fault(
    monkeypatch, stand_in_nvcc, program, machine
):
    real = stand_in_nvcc("13.0")
    killed = f'case "$*" in *--dryrun*|--version) exec "{real}" "$@";; esac; kill -9 $$'
    monkeypatch.setenv("FICTL_NVCC", str(program("nvcc", killed)))
    found = run((probes.probes,), Facts(nvcc=find_nvcc(), cxx=find_cxx()))
    assert found[0].level == "error"
    assert "FICTL_MAX_JOBS=1" in found[0].fix
    assert exit_code(found) == 3


@pytest.mark.needs_nvcc
def test_what_does_not_load_says_why(tried, monkeypatch):
    monkeypatch.setattr(
        probe_run, "_LOAD", "raise OSError('failed to map segment from shared object')"
    )
    found = tried()
    assert levels(found) == ["ok", "ok", "error", "warning"]
    assert "failed to map segment" in found["probe: load"].text
    assert "FICTL_WORKSPACE_BASE" in found["probe: load"].fix


@pytest.mark.parametrize(
    ("settings", "reason"),
    [({}, "there is no usable nvcc"), ({"FICTL_DISABLE_JIT": "1"}, "FICTL_DISABLE_JIT is set")],
)
def test_what_cannot_be_tried_is_said_with_its_reason(findings, monkeypatch, settings, reason):
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    found = findings(probes.probes)
    assert {each.text for each in found} == {f"not run: {reason}"}
    assert {each.level for each in found} == {"warning"}


def test_without_a_host_compiler_nothing_is_tried(findings):
    assert "C++ compiler" in findings(probes.probes, nvcc="13.0")[0].text


def test_a_toolkit_that_lacks_the_target_is_the_environments_fault(use_nvcc, monkeypatch):
    monkeypatch.setenv("FICTL_CUDA_ARCH_LIST", "12.0a")
    found = run((probes.probes,), Facts(nvcc=use_nvcc("12.6"), cxx=find_cxx()))
    assert exit_code(found) == 3
    assert "nvcc 12.6 cannot target 12.0a" in found[0].text


@pytest.mark.needs_gpu
@pytest.mark.needs_nvcc
def test_a_kernel_runs_on_every_gpu_and_its_numbers_are_right(monkeypatch, tmp_path):
    monkeypatch.undo()  # The GPUs that every other test hides.
    monkeypatch.setenv("FICTL_WORKSPACE_BASE", str(tmp_path))
    toolchain.forget()
    here, broken = facts.gather()
    assert not broken
    found = {each.name: each for each in run((probes.probes,), here)}
    assert found["probe: launch"].text.startswith("65536 right numbers")
