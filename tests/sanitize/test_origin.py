"""The command that shows a finding again."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.project import find
from fictl.sanitize.origin import add_origin


@pytest.mark.parametrize(
    ("test", "words"),
    [
        (
            "contract.py::test_reference[twice-1-int32,contiguous,seed=17-forward]",
            "--case twice-1-int32,contiguous,seed=17",
        ),
        (
            "contract.py::test_reference[forward-twice-1-int32,contiguous,seed=17]",
            "--case twice-1-int32,contiguous,seed=17",
        ),
        ("tests/test_twice.py::test_own[3-forward]", "-k test_own"),
        ("tests/test_twice.py::TestIt::test_own", "-k test_own"),
        ("", ""),
        ("x::$(rm -rf)", ""),
    ],
)
def test_it_selects_the_test(tiny: Path, test: str, words: str) -> None:
    row = {"test": test}
    add_origin(row, find("twice")[0], "emu")
    assert row["device"] == "emulated"
    command = "fictl sanitize tiny/elementwise/twice --device emu"
    assert row["repeat"] == f"{command} {words}".rstrip()


def test_on_a_gpu_it_names_the_gpu_and_the_tool(tiny: Path) -> None:
    row = {"test": "t.py::test_own", "tool": "racecheck"}
    add_origin(row, find("twice")[0], "cuda", "NVIDIA H200")
    assert row["device"] == "NVIDIA H200"
    assert row["repeat"].endswith("--device cuda --tool racecheck -k test_own")
