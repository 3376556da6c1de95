"""64 processes that ask for one cold module at once."""

from __future__ import annotations

import re

import pytest

_PROCESSES = 64
_READY_THEN_CALL = """import sys
sys.modules["torch"] = None
from fictl.project import mount
mount()
import tiny, tvm_ffi
from fictl.errors import FictlError
print("ready", flush=True)
sys.stdin.readline()
try:
    print(tiny.ops.twice(21))
except FictlError as error:
    print(error)
    sys.exit(error.exit_code)
"""


@pytest.fixture
def at_once(start, script):
    """Exit code and output of each; a compile takes so long that all of them ask meanwhile."""
    slow = script("slow", 'sleep 3; exec "$@"')

    def run(processes: int = _PROCESSES) -> list[tuple[int, str]]:
        children = [
            start("-c", _READY_THEN_CALL, FICTL_NVCC_LAUNCHER=slow, FICTL_LOGGING_LEVEL="error")
            for _ in range(processes)
        ]
        assert {child.stdout.readline() for child in children} == {"ready\n"}
        for child in children:
            child.stdin.write("\n")
            child.stdin.flush()
        said = [child.communicate(timeout=120) for child in children]
        codes = [child.returncode for child in children]
        return [(code, out + err) for code, (out, err) in zip(codes, said, strict=True)]

    return run


def test_one_compiles_and_all_load(project, at_once):
    assert at_once() == [(0, "42\n")] * _PROCESSES
    assert project.compiles == 1
    assert len(project.entries) == 1
    assert project.staging == []


def test_where_it_does_not_compile_all_are_told_why_and_few_try(project, at_once, call):
    project.multiply_by("nonsense")
    answers = at_once(16)
    assert {code for code, _ in answers} == {1}
    for _, said in answers:
        assert "elementwise.twice does not build: " in said
        assert re.search("nonsense. was not declared", said)
        assert "log: " in said
    assert project.compiles <= 3
    project.multiply_by(3)
    assert call() == "63"
