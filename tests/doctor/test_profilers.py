"""CUPTI, the permission to read counters, and NVIDIA's tools."""

from __future__ import annotations

import importlib.util
import os
from importlib import metadata

import pytest

from fictl.doctor import profilers
from fictl.doctor.profilers import cupti, permission, tools


@pytest.fixture
def installed(monkeypatch):
    """cupti-python of a version, or None, beside a torch of a CUDA."""

    def make(version: str | None, torch: int | None = None, module: object = object()) -> None:
        def find(name: str) -> str:
            if version is None:
                raise metadata.PackageNotFoundError(name)
            return version

        monkeypatch.setattr(metadata, "version", find)
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: module)
        monkeypatch.setattr(profilers, "torch_cuda", lambda: torch)

    return make


@pytest.mark.parametrize(
    ("driver", "fix"),
    [("", 'pip install "fictl[profile]"'), ("12.4", "pip install 'cupti-python>=12,<13'")],
)
def test_without_cupti_the_right_one_is_named(finding, installed, driver, fix):
    installed(None)
    found = finding(cupti, driver=driver)
    assert (found.level, found.fix) == ("warning", fix)
    assert "CUDA graphs" in found.text


def test_a_cupti_newer_than_the_driver_is_a_warning(finding, installed):
    installed("13.0.0")
    found = finding(cupti, driver="12.4")
    assert found.level == "warning"
    assert "the driver is 550.54.15 (CUDA 12.4)" in found.text


def test_a_cupti_of_another_cuda_than_torch_is_a_warning(finding, installed):
    installed("13.0.0", torch=12)
    found = finding(cupti, driver="13.0")
    assert found.level == "warning"
    assert "torch of CUDA 12" in found.text


def test_a_cupti_that_is_only_metadata_is_a_warning(finding, installed):
    installed("13.0.0", module=None)
    assert "no module cupti" in finding(cupti).text


@pytest.mark.parametrize("torch", [13, None])
def test_a_cupti_that_fits_is_fine(finding, installed, torch):
    installed("13.0.0", torch=torch)
    assert finding(cupti, driver="13.0").level == "ok"


@pytest.fixture
def restricted(monkeypatch, tmp_path):
    """What the driver and the kernel say of this process."""

    def make(admin_only: str, capabilities: int) -> None:
        profilers._PARAMETERS.write_text(f"X: 1\nRmProfilingAdminOnly: {admin_only}\n")
        status = tmp_path / "status"
        status.write_text(f"Name: python\nCapEff:\t{capabilities:016x}\n")
        monkeypatch.setattr(profilers, "_STATUS", status)

    return make


def test_without_a_driver_there_is_no_permission_to_speak_of(findings):
    assert findings(permission) == []


@pytest.mark.parametrize(
    ("admin_only", "capabilities", "level"),
    [("0", 0, "ok"), ("1", 0, "warning"), ("1", 1 << 21, "ok"), ("1", 1 << 38, "warning")],
)
def test_counters_need_a_permission(finding, restricted, admin_only, capabilities, level):
    restricted(admin_only, capabilities)
    assert finding(permission, driver="12.4").level == level


def test_perfmon_is_enough_from_driver_565_on(finding, machine, restricted):
    from fictl.doctor import run
    from fictl.doctor.cuda_driver import CudaDriver

    restricted("1", 1 << 38)
    facts = machine()
    (found,) = run((permission,), type(facts)(driver=CudaDriver((13, 0), "580.95.05")))
    assert found.level == "ok"


def test_the_refusal_names_error_and_both_ways_out(finding, restricted):
    restricted("1", 0)
    found = finding(permission)
    assert "ERR_NVGPUCTRPERM" in found.text
    assert f"user {os.geteuid()}" in found.text
    assert "NVreg_RestrictProfilingToAdminUsers=0" in found.fix
    assert "--cap-add=SYS_ADMIN" in found.fix


@pytest.fixture
def no_tools(monkeypatch):
    monkeypatch.setattr("fictl.toolchain.profilers.find_tool", lambda name: None)


def test_absent_tools_are_warnings_with_what_for(findings, no_tools):
    found = findings(tools, nvcc="12.8")
    assert [each.name for each in found] == ["compute-sanitizer", "ncu", "nsys"]
    assert {each.level for each in found} == {"warning"}
    assert "cuda-sanitizer-12-8" in found[0].fix
    assert "hardware counters" in found[1].text


def test_the_newest_nsight_of_the_installers_folder_is_found(findings, no_tools, tmp_path):
    for version in ("2024.1.0", "2025.3.1"):
        path = tmp_path / "opt" / "nsight-compute" / version / "ncu"
        path.parent.mkdir(parents=True)
        path.write_text(f"#!/bin/sh\necho Version {version}.0\n")
        path.chmod(0o755)
    (ncu,) = [each for each in findings(tools) if each.name == "ncu"]
    assert ncu.level == "ok"
    assert ncu.text.startswith("2025.3.1.0, ")


@pytest.mark.parametrize(
    ("body", "seen"),
    [("echo 'no libdw'; exit 127", "no libdw"), ("true", "nothing"), ("sleep 60", "did not end")],
)
def test_a_tool_that_does_not_run_is_a_warning(findings, program, monkeypatch, body, seen):
    if body.startswith("sleep"):
        monkeypatch.setattr(profilers, "_SECONDS", 0.2)
    program("nsys", body)
    (nsys,) = [each for each in findings(tools) if each.name == "nsys"]
    assert nsys.level == "warning"
    assert seen in nsys.text
