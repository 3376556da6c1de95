"""Pairs of GPUs: what the probe of each says, and the findings that follow."""

from __future__ import annotations

from typing import Any

import pytest

from fictl.doctor.facts import Facts
from fictl.doctor.pairs import ask, judged, pairs
from fictl.errors import FictlError
from fictl.process import Finished
from fictl.toolchain import Probe

GOOD = {"peer": True, "ipc": "", "wrong": 0, "read": 390.0, "write": 380.0}
LINKS = {(0, 1): "NV18", (0, 2): "SYS"}


def test_good_pairs_are_one_finding() -> None:
    (found,) = judged({(0, 1): GOOD, (0, 2): {**GOOD, "read": 20.0}}, LINKS)
    assert found.level == "ok"
    assert found.text.splitlines() == [
        "2 of 2: peer access, IPC, 20 GB/s and more",
        "GPU 0 - 1: NV18, read 390 GB/s, write 380 GB/s",
        "GPU 0 - 2: SYS, read 20 GB/s, write 380 GB/s",
    ]


@pytest.mark.parametrize(
    ("change", "level", "text"),
    [
        ({"peer": False}, "warning", "neither can access the other's memory"),
        ({"ipc": "cuIpcOpenMemHandle_v2: CUDA_ERROR_X"}, "error", "cannot be shared: cuIpcOpen"),
        ({"wrong": 3}, "error", "3 of 1048576 bytes are wrong"),
        ({"write": 100.0}, "warning", "100 GB/s, of 450"),
        ({"problem": "cuInit: CUDA_ERROR_NO_DEVICE"}, "error", "cuInit: CUDA_ERROR_NO_DEVICE"),
    ],
)
def test_each_problem_names_the_pair(change: dict[str, Any], level: str, text: str) -> None:
    (found,) = judged({(0, 1): {**GOOD, **change}}, LINKS)
    assert found.level == level
    assert found.text.startswith("GPUs 0 and 1 (NV18): ")
    assert text in found.text
    assert found.fix


@pytest.mark.parametrize("output", ["", "Segmentation fault", "[1]", "{"])
def test_a_probe_without_an_answer(output: str) -> None:
    answer = ask(0, 1, lambda words, timeout: Finished(tuple(words), -11, output, 1.0))
    assert answer["problem"]


def test_a_probe_that_hangs() -> None:
    def hangs(words: list[str], timeout: float) -> Finished:
        raise FictlError("it did not end within 60 s")

    assert ask(0, 1, hangs) == {"problem": "it did not end within 60 s"}


def test_one_gpu_has_no_pair() -> None:
    (found,) = pairs(Facts(gpus=Probe()))
    assert (found.level, found.text) == ("warning", "0 GPU visible, no pair")


@pytest.mark.needs_gpu
def test_two_processes_of_one_gpu() -> None:
    answer = ask(0, 0)
    assert (answer["peer"], answer["ipc"], answer["wrong"]) == (True, "", 0)
    assert answer["read"] > 10
    assert answer["write"] > 10


def test_without_a_driver_the_probe_says_so() -> None:
    answer = ask(0, 0)
    assert answer.get("ipc") == "" or "libcuda" in answer["problem"]
