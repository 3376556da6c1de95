"""Reports of kernels beside the tests that they come from."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fictl.emu.report import Place, Report
from fictl.op.ffi import emulated
from fictl.testing.hooks.defects import Defects

RACE = Report("race", "Sum", "read after write", "no barrier", Place("sum.cuh", 7))
TRAP = Report("trap", "Sum", "a trap", "", Place("sum.cuh", 9))

# A kernel that is reported and ends by itself.
REPORTED = """
import sys
sys.modules["torch"] = None
from types import SimpleNamespace
from fictl.emu.report import Place, Report
from fictl.op.ffi import emulated

RACE = Report("race", "Sum", "read after write", "no barrier", Place("sum.cuh", 7))
device = SimpleNamespace(take_reports=lambda: [RACE], schedule="forward", keep=lambda _: None)
emulated.emulated_device = lambda: device
total = emulated.Emulated("total", lambda: 3)

def test_sum():
    assert total() == 3
"""


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(emulated, "_listeners", [])
    return tmp_path / "defects.jsonl"


def item(nodeid: str) -> Any:
    """A test, as far as its name goes."""
    return SimpleNamespace(nodeid=nodeid, location=("test_sum.py", 0, ""))


def test_a_test_outside_of_the_root_has_its_file(path: Path) -> None:
    defects = Defects(path)
    defects.pytest_runtest_protocol(item("::test_sum[3]"))
    emulated._tell("total", [TRAP])
    assert lines(path)[0]["test"] == "test_sum.py::test_sum[3]"


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_each_report_is_a_line_with_op_test_facts_and_words(path: Path) -> None:
    defects = Defects(path)
    defects.pytest_runtest_protocol(item("test_sum.py::test_sum[3]"))
    emulated._tell("total", [RACE, TRAP])
    race, trap = lines(path)
    assert race == {
        "op": "total",
        "test": "test_sum.py::test_sum[3]",
        **json.loads(json.dumps(RACE.to_dict())),
        "text": RACE.text(),
    }
    assert trap["kind"] == "trap"


def test_lines_are_added_to_those_of_tests_before(path: Path) -> None:
    defects = Defects(path)
    for test in ("test_one", "test_two"):
        defects.pytest_runtest_protocol(item(f"test_sum.py::{test}"))
        emulated._tell("total", [TRAP])
    assert [line["test"] for line in lines(path)] == [
        "test_sum.py::test_one",
        "test_sum.py::test_two",
    ]


def test_without_reports_there_is_no_file(path: Path) -> None:
    Defects(path)
    emulated._tell("total", [])
    assert not path.exists()


def test_with_the_option_a_report_is_written_and_its_test_passes(run_pytest, path: Path) -> None:
    done = run_pytest(REPORTED, f"--fictl-defects={path}", FICTL_DEVICE="emu")
    assert done.returncode == 0, done.stdout
    (line,) = lines(path)
    assert (line["op"], line["test"], line["line"]) == ("total", "test_it.py::test_sum", 7)


def test_without_it_the_test_fails(run_pytest) -> None:
    done = run_pytest(REPORTED, FICTL_DEVICE="emu")
    assert done.returncode == 1
    assert "KernelDefect: total: race: read after write" in done.stdout
