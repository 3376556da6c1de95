"""64 processes that ask for one cold module at once."""

from __future__ import annotations

import re

import pytest

_PROCESSES = 64


@pytest.fixture
def all_compile(at_once, script):
    """A compile takes so long that all of them ask meanwhile."""
    slow = script("slow", 'sleep 3; exec "$@"')
    return lambda processes=_PROCESSES: at_once(processes, FICTL_NVCC_LAUNCHER=slow)


def test_one_compiles_and_all_load(project, all_compile):
    assert all_compile() == ([0] * _PROCESSES, ["42\n"] * _PROCESSES)
    assert project.compiles == 1
    assert len(project.entries) == 1
    assert project.staging == []


def test_where_it_does_not_compile_all_are_told_why_and_few_try(project, all_compile, call):
    project.multiply_by("nonsense")
    codes, answers = all_compile(16)
    assert (len(answers), {*codes}) == (16, {1})
    for said in answers:
        assert "elementwise.twice does not build: " in said
        assert re.search("nonsense. was not declared", said)
        assert "log: " in said
    assert project.compiles <= 3
    project.multiply_by(3)
    assert call() == "63"
