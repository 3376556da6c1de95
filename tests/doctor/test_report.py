"""The text for a bug report."""

from __future__ import annotations

import pytest

from fictl.doctor import DoctorFinding, report
from fictl.doctor.finding import ok
from fictl.doctor.report import make_report
from fictl.settings import Setting
from fictl.version import VERSION

BAD = DoctorFinding("nvcc", "error", "none\nCUDA_HOME: not set", "install one")


def test_it_has_version_machine_findings_settings_and_packages(monkeypatch):
    monkeypatch.setenv("FICTL_MAX_JOBS", "3")
    text = make_report([ok("Python", "3.12"), BAD])
    assert text.startswith(f"## Environment of fictl {VERSION}")
    assert "- ✗ **nvcc**: none → install one\n    - `CUDA_HOME: not set`" in text
    assert "### Findings: 2 checks, 1 problem" in text
    assert "| FICTL_MAX_JOBS | 3 | environment: FICTL_MAX_JOBS |" in text
    assert "| apache-tvm-ffi | " in text


def test_the_home_folder_is_not_told(monkeypatch):
    monkeypatch.setenv("HOME", "/home/carol")
    monkeypatch.setenv("FICTL_WORKSPACE_BASE", "/home/carol/ws")
    text = make_report([])
    assert "/home/carol" not in text
    assert "| FICTL_WORKSPACE_BASE | ~/ws |" in text


@pytest.mark.parametrize("name", ["FICTL_STORE_TOKEN", "FICTL_S3_SECRET", "FICTL_API_KEY"])
def test_a_secret_setting_is_named_without_its_value(monkeypatch, name):
    monkeypatch.setenv(name, "hunter2")
    known = Setting(name, "text", str, "", "what it is")
    monkeypatch.setattr(report.configuration.__globals__["settings"], "SETTINGS", (known,))
    text = make_report([])
    assert f"| {name} | <hidden> | environment: {name} |" in text
    assert "hunter2" not in text


def test_a_setting_that_cannot_be_read_does_not_stop_the_report(monkeypatch):
    monkeypatch.setenv("FICTL_MAX_JOBS", "many")
    assert "cannot be read" in make_report([BAD])


def test_a_bar_in_a_value_does_not_break_the_table(monkeypatch):
    monkeypatch.setenv("FICTL_EXTRA_CFLAGS", "-DX=a|b")
    assert r"a\|b" in make_report([])
