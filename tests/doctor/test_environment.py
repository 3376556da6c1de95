"""Variables that are wrong, misspelt, or work behind fictl's back."""

from __future__ import annotations

import pytest

from fictl.doctor.environment import behind_the_key, flags, settings_in_force, stubs


def test_nothing_set_is_nothing_named(finding, monkeypatch):
    monkeypatch.delenv("FICTL_WORKSPACE_BASE")
    monkeypatch.delenv("FICTL_GPU_LOCK_DIR")
    for name in ("NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"):
        monkeypatch.delenv(name, raising=False)
    assert finding(settings_in_force).text in ("all at their defaults", "FICTL_CONFIG")


def test_what_is_set_is_named(finding, monkeypatch):
    monkeypatch.setenv("FICTL_MAX_JOBS", "2")
    found = finding(settings_in_force)
    assert found.level == "ok"
    assert "FICTL_MAX_JOBS" in found.text


@pytest.mark.parametrize(
    ("name", "value"),
    [("FICTL_MAX_JOBS", "many"), ("FICTL_CUDA_ARCH_LIST", "9x"), ("FICTL_JIT_DEBUG", "maybe")],
)
def test_a_value_that_cannot_be_read_is_an_error(finding, monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    found = finding(settings_in_force, environ={name: value})
    assert found.level == "error"
    assert f"{name}={value!r} cannot be read" in found.text
    assert found.fix.startswith("unset it")


def test_a_misspelt_name_is_a_warning_with_the_nearest(findings, monkeypatch):
    monkeypatch.setenv("FICTL_MAX_JOB", "2")
    found = findings(settings_in_force)
    assert [each.level for each in found] == ["warning", "ok"]
    assert "rename it to FICTL_MAX_JOBS" in found[0].fix


def test_a_name_like_no_other_is_to_be_unset(findings, monkeypatch):
    monkeypatch.setenv("FICTL_QQQQQQQQ", "2")
    assert "unset FICTL_QQQQQQQQ" in findings(settings_in_force)[0].fix


def test_flags_that_nvcc_adds_by_itself_are_a_warning(finding, monkeypatch):
    monkeypatch.setenv("NVCC_APPEND_FLAGS", "-G")
    found = finding(flags)
    assert (found.name, found.level) == ("NVCC_APPEND_FLAGS", "warning")
    assert "'-G'" in found.text


@pytest.mark.parametrize("name", ["CPATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH"])
def test_variables_that_a_key_does_not_have_are_a_warning(finding, name):
    found = finding(behind_the_key, environ={name: "/opt/x"})
    assert (found.name, found.level) == (name, "warning")
    assert f"unset {name}" in found.fix


def test_empty_ones_do_nothing(findings):
    assert findings(behind_the_key, environ={"CPATH": ""}) == []


def test_a_stub_of_the_driver_on_the_path_is_a_warning(finding):
    found = finding(stubs, environ={"LD_LIBRARY_PATH": "/a:/cuda/lib64/stubs/"})
    assert "/cuda/lib64/stubs/" in found.text


def test_other_library_folders_are_fine(findings):
    assert findings(stubs, environ={"LD_LIBRARY_PATH": "/a:/stubsy"}) == []
