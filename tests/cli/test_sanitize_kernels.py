"""fictl sanitize over kernels that really run, emulated."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.emu.toolchain import current_toolchain

OWN_TESTS = """
import torch
from stray.elementwise.shift.op import shift, spoil

def x():
    return torch.arange(40, dtype=torch.int32)

def test_inside(device):
    assert torch.equal(shift(x(), 0), x())

def test_past_the_end(device):
    shift(x(), 1)

def test_input(device):
    spoil(x())
"""
ACCEPTED = '[[suppress]]\nop = "elementwise/shift"\nkind = "read-only"\nwhy = "it is meant to"\n'


@pytest.fixture
def op(stray: Path) -> Path:
    """The project, with tests of its own."""
    if current_toolchain() is None:
        pytest.skip("needs a C++ compiler and CUDA's headers")
    test = stray / "tests" / "kernels" / "elementwise" / "test_shift.py"
    test.parent.mkdir(parents=True)
    test.write_text(OWN_TESTS)
    return stray


def test_defects_of_an_op_are_found_wherever_its_tests_lead(fictl, op: Path) -> None:
    answer = fictl("sanitize", "shift", "-k", "not builds", "--json")
    assert answer.code == 1
    (checked,) = answer.document["data"]
    # The test whose kernel ended by itself has passed, as have the five of the reference.
    assert checked["passed"] == 7
    assert [name.rpartition("::")[2] for name in checked["failed"]] == [
        "test_past_the_end[forward]"
    ]
    places = {each["kind"]: (Path(each["file"]).name, each["line"]) for each in checked["findings"]}
    assert places == {"out-of-bounds": ("shift.cuh", 11), "read-only": ("shift.cuh", 11)}


def test_what_the_project_accepts_is_no_defect(fictl, op: Path) -> None:
    (op / "sanitize.toml").write_text(ACCEPTED)
    answer = fictl("sanitize", "shift", "-k", "input")
    assert answer.code == 0
    assert "1 test · 0 defects · 1 suppressed" in answer.out
