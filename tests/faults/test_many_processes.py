"""64 processes that ask for one cold module at once."""

from __future__ import annotations

import re

import pytest

_PROCESSES = 64
# Why fork: importing takes each of them longer than what is tested. The gate opens for all at once.
_FORK_THEN_CALL = """import os, sys
sys.modules.update(dict.fromkeys(["torch", "numpy", "cuda"]))
from fictl.project import mount
mount()
import fictl.jit.build, fictl.jit.compile, tiny, tvm_ffi
from fictl.errors import FictlError
twice = tiny.ops.twice

def call():
    try:
        print(twice(21))
    except FictlError as error:
        print(error)
        sys.exit(error.exit_code)

gate, opened = os.pipe()
for number in range(int(sys.argv[1])):
    if os.fork() == 0:
        os.close(opened)
        said = os.open(f"{sys.argv[2]}/{number}", os.O_CREAT | os.O_WRONLY)
        os.dup2(said, 1)
        os.dup2(said, 2)
        os.read(gate, 1)
        call()
        sys.exit()
os.close(opened)
for _ in range(int(sys.argv[1])):
    print(os.waitstatus_to_exitcode(os.wait()[1]))
"""


@pytest.fixture
def at_once(start, script, tmp_path):
    """The exit codes, and what each said; a compile takes so long that all of them ask meanwhile."""
    slow = script("slow", 'sleep 3; exec "$@"')

    def run(processes: int = _PROCESSES) -> tuple[list[int], list[str]]:
        said = tmp_path / "said"
        said.mkdir()
        parent = start(
            *("-c", _FORK_THEN_CALL, str(processes), str(said)),
            FICTL_NVCC_LAUNCHER=slow,
            FICTL_LOGGING_LEVEL="error",
        )
        codes, err = parent.communicate(timeout=120)
        assert parent.returncode == 0, err
        return [*map(int, codes.split())], [path.read_text() for path in said.iterdir()]

    return run


def test_one_compiles_and_all_load(project, at_once):
    assert at_once() == ([0] * _PROCESSES, ["42\n"] * _PROCESSES)
    assert project.compiles == 1
    assert len(project.entries) == 1
    assert project.staging == []


def test_where_it_does_not_compile_all_are_told_why_and_few_try(project, at_once, call):
    project.multiply_by("nonsense")
    codes, answers = at_once(16)
    assert (len(answers), {*codes}) == (16, {1})
    for said in answers:
        assert "elementwise.twice does not build: " in said
        assert re.search("nonsense. was not declared", said)
        assert "log: " in said
    assert project.compiles <= 3
    project.multiply_by(3)
    assert call() == "63"
