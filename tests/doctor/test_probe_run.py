"""What the process that loads and launches tells, and what is made of it."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from fictl.arch import Arch
from fictl.doctor import Facts, probe_run
from fictl.process import Finished
from fictl.toolchain import Gpu, Probe

H200 = Probe((Gpu(0, "NVIDIA H200", Arch(9, 0)), Gpu(1, "NVIDIA H200", Arch(9, 0))))
ENTRY = SimpleNamespace(module="module.so", manifest=SimpleNamespace(cudart=13))


@pytest.fixture
def child(monkeypatch):
    """What the process that launches says, and how it ends; no module is built."""

    def ends(output: str, code: int = 0):
        monkeypatch.setattr(probe_run, "child", lambda *words: Finished((), code, output, 0.1))
        here = Facts(gpus=H200)
        return list(probe_run.loaded(ENTRY, here))

    return ends


def test_right_numbers_on_every_gpu_are_a_launch(child, monkeypatch):
    monkeypatch.setattr(probe_run, "traced", lambda entry: iter(()))
    found = child("loaded\nwrong 0 0\nwrong 1 0\n")
    assert [each.level for each in found] == ["ok", "ok"]
    assert found[1].text == "65536 right numbers on each of 2 GPUs"


def test_wrong_numbers_accuse_the_gpu(child):
    launch = child("loaded\nwrong 0 0\nwrong 1 12\n")[1]
    assert (launch.level, launch.probe) == ("error", True)
    assert launch.text == "GPU 1: 12 of 65536 numbers are wrong"


@pytest.mark.parametrize(
    ("said", "fix"),
    [
        ("cudaErrorNoKernelImageForDevice: no kernel image", "FICTL_CUDA_ARCH_LIST"),
        ("cudaErrorInsufficientDriver: driver too old", "update the driver"),
        ("cudaErrorDevicesUnavailable: busy", "nvidia-smi -c DEFAULT"),
        ("cudaErrorLaunchFailure: unspecified", "dmesg"),
    ],
)
def test_an_error_of_cuda_is_told_with_what_mends_it(child, said, fix):
    launch = child(f"loaded\n{said}\nwrong 0 -1\n")[1]
    assert launch.text == f"GPU 0: {said}"
    assert fix in launch.fix


def test_a_launch_that_crashes_names_the_signal(child):
    launch = child("loaded\nwrong 0 0\n", -11)[1]
    assert launch.text == "GPU 1: ended by SIGSEGV"


def test_a_child_that_hangs_is_ended(monkeypatch):
    monkeypatch.setattr(probe_run, "_SECONDS", 0.2)
    done = probe_run.child("import time; time.sleep(60)")
    assert done.code != 0
    assert "did not end" in done.output


@pytest.fixture
def traced(monkeypatch):
    def ends(output: str, installed: bool = True):
        def version(name: str) -> str:
            if not installed:
                raise probe_run.metadata.PackageNotFoundError(name)
            return "13.0"

        monkeypatch.setattr(probe_run.metadata, "version", version)
        monkeypatch.setattr(probe_run, "child", lambda *words: Finished((), 1, output, 0.1))
        return list(probe_run.traced(ENTRY))

    return ends


def test_one_record_for_one_launch_is_a_trace(traced):
    (found,) = traced("kernels 1\n")
    assert found.level == "ok"


@pytest.mark.parametrize("said", ["kernels 0", "cuptiError: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"])
def test_a_trace_that_fails_is_a_warning(traced, said):
    (found,) = traced(said + "\n")
    assert found.level == "warning"
    assert found.text.startswith(f"{said}: timing falls back")


def test_without_cupti_nothing_is_traced(traced):
    assert traced("", installed=False) == []
