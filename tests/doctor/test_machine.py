"""Memory against jobs."""

from __future__ import annotations

import pytest

from fictl.doctor import machine as machine_module
from fictl.doctor.machine import memory
from fictl.jit import jobs


@pytest.fixture
def free(monkeypatch):
    def pretend(gib: float, cores: int = 8) -> None:
        for place in (jobs, machine_module):
            monkeypatch.setattr(place, "available_kib", lambda: int(gib * (1 << 20)))
            monkeypatch.setattr(place, "usable_cores", lambda: cores)

    return pretend


def test_jobs_are_those_that_a_build_would_choose(finding, free):
    free(10)
    found = finding(memory)
    assert (found.level, found.text) == ("ok", "10.0 GiB free for 3 compilers at once, 8 cores")


def test_little_memory_is_a_warning(finding, free):
    free(1)
    found = finding(memory)
    assert found.level == "warning"
    assert "1.0 GiB free for 1 compiler at once" in found.text


@pytest.mark.parametrize("name", ["FICTL_MAX_JOBS", "MAX_JOBS"])
def test_more_jobs_than_memory_holds_are_a_warning(finding, free, monkeypatch, name):
    free(10)
    monkeypatch.setenv(name, "64")
    found = finding(memory)
    assert found.level == "warning"
    assert f"for 64 compilers at once ({name})" in found.text
    assert "FICTL_MAX_JOBS=3" in found.fix


def test_as_many_as_it_holds_are_fine(finding, free, monkeypatch):
    free(10)
    monkeypatch.setenv("FICTL_MAX_JOBS", "3")
    assert finding(memory).level == "ok"
