"""ccache and sccache."""

from __future__ import annotations

import pytest

from fictl.doctor.launchers import launchers
from fictl.toolchain import find_cxx


def test_none_is_nothing_to_say(findings):
    assert findings(launchers) == []


def test_a_launcher_that_is_missing_is_an_error(finding, monkeypatch):
    monkeypatch.setenv("FICTL_CXX_LAUNCHER", "no-such-cache")
    found = finding(launchers)
    assert (found.name, found.level) == ("launcher (FICTL_CXX_LAUNCHER)", "error")
    assert "unset FICTL_CXX_LAUNCHER" in found.fix


@pytest.mark.parametrize(
    ("name", "version", "nvcc", "level"),
    [
        ("sccache", "sccache 0.17.0", "13.3", "warning"),
        ("sccache", "sccache 0.17.0", "13.2", "ok"),
        ("sccache", "sccache 0.18.1", "13.3", "ok"),
        ("ccache", "ccache version 3.7.7", "13.0", "warning"),
        ("ccache", "ccache version 4.12.2", "13.0", "ok"),
        ("ccache", "what?", "13.0", "ok"),
    ],
)
def test_bad_pairs_are_known(finding, program, monkeypatch, name, version, nvcc, level):
    program(name, f"echo '{version}'")
    monkeypatch.setenv("FICTL_NVCC_LAUNCHER", name)
    assert finding(launchers, nvcc=nvcc).level == level


def test_what_is_bad_for_nvcc_is_fine_for_the_host_compiler(finding, program, monkeypatch):
    program("sccache", "echo 'sccache 0.16.0'")
    monkeypatch.setenv("FICTL_CXX_LAUNCHER", "sccache")
    assert finding(launchers, nvcc="13.4").level == "ok"


def test_one_before_the_compiler_in_cxx_is_seen(finding, program, monkeypatch):
    program("ccache", 'case $1 in --version) echo "ccache version 4.8";; *) exec "$@";; esac')
    monkeypatch.setenv("CXX", "ccache g++")
    found = finding(launchers, cxx=find_cxx())
    assert found.name == "launcher (CXX)"
    assert found.text.startswith("ccache 4.8")


def test_a_launcher_of_ones_own_is_only_looked_for(finding, program, monkeypatch):
    program("count", "exit 1")
    monkeypatch.setenv("FICTL_NVCC_LAUNCHER", "count --all")
    assert finding(launchers, nvcc="13.3").level == "ok"
