"""Options that `fictl test` passes to pytest; all begin with --fictl."""

from __future__ import annotations

import pytest


def add_options(parser: pytest.Parser) -> None:
    group = parser.getgroup("fictl")
    group.addoption("--fictl-op", action="append", default=[], help="op that the contract tests")
    group.addoption("--fictl-case", default="", help="the generated test to run, by its name")
    group.addoption("--fictl-gpus", type=int, help="run the tests that are marked gpus(n)")
    group.addoption("--fictl-journal", help="append outcomes to this file, leave out what it has")
    group.addoption(
        "--fictl-attached", action="store_true", help="a person is at the terminal: stay there"
    )
    group.addoption("--fictl-part", default="", help="i/n: run every n-th test from the i-th on")
    group.addoption("--fictl-defects", help="append what kernels report to this file, one a line")
    group.addoption(
        "--fictl-require-arch",
        action="store_true",
        help="a test without its GPU, architecture or nvcc fails; FICTL_CUDA_ARCH_LIST says for "
        "which architectures",
    )
    group.addoption(
        "--fictl-seed",
        type=int,
        help="seed of random inputs and of the emulated device's random schedule",
    )
