"""A machine made of stand-ins: programs on PATH, a driver, GPUs, none of them real."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from fictl.arch import Arch
from fictl.doctor import DoctorFinding, Facts, cuda_driver, profilers, run
from fictl.doctor.cuda_driver import CudaDriver
from fictl.toolchain import Gpu, Nvcc, Probe

Check = Callable[[Facts], Iterator[DoctorFinding]]


@pytest.fixture(autouse=True)
def _no_driver(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(cuda_driver, "LIBRARY", "libcuda.so.hidden")
    monkeypatch.setattr(cuda_driver, "_KERNEL_MODULE", tmp_path / "version")
    monkeypatch.setattr(profilers, "_PARAMETERS", tmp_path / "params")
    monkeypatch.setattr("fictl.toolchain.profilers._OPT", tmp_path / "opt")


@pytest.fixture(autouse=True)
def _with_runtimes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process has the runtimes of CUDA 12 and 13, and no other."""
    monkeypatch.setattr("fictl.jit.cuda_runtime._is_loaded", (12, 13).__contains__)


@pytest.fixture
def machine() -> Callable[..., Facts]:
    """The facts of a machine in few words: gpus=["NVIDIA H200 9.0"], driver="13.0", nvcc="12.8"."""

    def make(
        gpus: Sequence[str] = (), driver: str = "", nvcc: str | Nvcc = "", **others: Any
    ) -> Facts:
        found = tuple(_gpu(index, words) for index, words in enumerate(gpus))
        facts: dict[str, Any] = {"gpus": Probe(found)}
        if driver:
            facts["driver"] = CudaDriver(_version(driver), "550.54.15")
        if nvcc:
            facts["nvcc"] = _nvcc(nvcc) if isinstance(nvcc, str) else nvcc
        return Facts(**{**facts, **others})

    return make


@pytest.fixture
def findings(machine: Callable[..., Facts]) -> Callable[..., list[DoctorFinding]]:
    """What one check finds on such a machine, run as the examination runs it."""
    return lambda check, **facts: run((check,), machine(**facts))


@pytest.fixture
def finding(findings: Callable[..., list[DoctorFinding]]) -> Callable[..., DoctorFinding]:
    def only(check: Check, **facts: Any) -> DoctorFinding:
        (found,) = findings(check, **facts)
        return found

    return only


def _gpu(index: int, words: str) -> Gpu:
    name, _, arch = words.rpartition(" ")
    return Gpu(index, name, Arch.parse(arch))


def _nvcc(release: str) -> Nvcc:
    return Nvcc(
        path=Path("/cuda/bin/nvcc"),
        home=Path("/cuda"),
        version=_version(release),
        build="b",
        include_dirs=(),
        library_dirs=(Path("/cuda/lib64"),),
    )


def _version(text: str) -> tuple[int, int]:
    major, minor = map(int, text.split("."))
    return major, minor
