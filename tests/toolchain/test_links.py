"""Links between GPUs, from what nvidia-smi draws."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fictl.toolchain.links import links_in, read_links, speed

EIGHT = """\
\t\x1b[4mGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m
GPU0\t X \tNV18\tPIX\tSYS\tPIX\t0-47\t0\t\tN/A
GPU1\tNV18\t X \tSYS\tNODE\tSYS\t0-47\t0\t\tN/A
GPU2\tPIX\tSYS\t X \tNV4\tSYS\t48-95\t1\t\tN/A
GPU3\tSYS\tNODE\tNV4\t X \tSYS\t48-95\t1\t\tN/A
NIC0\tPIX\tSYS\tSYS\tSYS\t X \t\t\t\t

Legend:

  X    = Self
  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes
"""


def test_the_matrix_is_read() -> None:
    assert links_in(EIGHT) == {
        (0, 1): "NV18",
        (0, 2): "PIX",
        (0, 3): "SYS",
        (1, 2): "SYS",
        (1, 3): "NODE",
        (2, 3): "NV4",
    }


@pytest.mark.parametrize(
    "text",
    [
        "",
        "GPU0\tNV18\n",
        "\tGPU0\tGPU1\nGPU0\t X \tsomething\n",
        "\tGPU0\tGPU99999\nGPU0\t X \tNV18\n",
        "\tNIC0\nGPU0\tPIX\n",
    ],
)
def test_what_cannot_be_read_is_no_link(text: str) -> None:
    assert links_in(text) == {}


def test_faster_links_come_first() -> None:
    links = ["NV18", "NV4", "PIX", "PXB", "PHB", "NODE", "SYS", ""]
    assert sorted(links, key=speed, reverse=True) == links


def test_a_program_that_fails_tells_nothing(program: Callable[[str, str], Path]) -> None:
    program("nvidia-smi", "echo 'Failed to initialize NVML'; exit 9")
    assert read_links() == {}


def test_without_the_program_there_is_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert read_links() == {}
