"""What builds are for, against the GPUs here."""

from __future__ import annotations

from fictl.arch import Arch, known_gpus
from fictl.doctor.targets import targets

H200, B300, RTX = "NVIDIA H200 9.0", "NVIDIA B300 10.3", "RTX 5090 12.0"


def test_without_an_nvcc_there_is_nothing_to_say(findings):
    assert findings(targets, gpus=[H200]) == []


def test_without_a_gpu_it_is_what_nvcc_can_do(finding, use_nvcc):
    found = finding(targets, nvcc=use_nvcc("12.8"))
    assert (found.level, found.text) == (
        "ok",
        "nvcc 12.8 can target 7.5 8.0 8.6 8.7 8.9 9.0a 10.0a 12.0a",
    )


def test_every_gpu_that_is_known_is_among_the_targets(finding, use_nvcc):
    found = finding(targets, nvcc=use_nvcc("13.0")).text
    named = {Arch.parse(word) for word in found.partition("can target ")[2].split()}
    assert {arch.plain for arch in named} == set(known_gpus())
    assert all(arch == arch.plain.full for arch in named)


def test_with_a_gpu_it_is_that_gpus(finding, use_nvcc):
    found = finding(targets, nvcc=use_nvcc("12.8"), gpus=[H200])
    assert (found.level, found.text.splitlines()[0]) == ("ok", "9.0a (GPUs present)")


def test_a_gpu_newer_than_nvcc_names_the_release_and_the_way_out(finding, use_nvcc):
    found = finding(targets, nvcc=use_nvcc("12.8"), gpus=[B300])
    assert found.level == "error"
    assert "nvcc 12.8 cannot target 10.3a (CUDA 12.9 has it)" in found.text
    assert "CUDA 12.9 or newer" in found.fix
    assert "FICTL_CUDA_ARCH_LIST=10.0" in found.fix


def test_sm12x_needs_cuda_12_8(finding, use_nvcc):
    found = finding(targets, nvcc=use_nvcc("12.6"), gpus=[RTX])
    assert found.level == "error"
    assert "CUDA 12.8 has it" in found.text


def test_sm12x_that_is_only_wanted_needs_it_too(finding, use_nvcc, monkeypatch):
    monkeypatch.setenv("FICTL_ENABLE_SM120A", "1")
    monkeypatch.setenv("FICTL_CUDA_ARCH_LIST", "12.0a")
    assert finding(targets, nvcc=use_nvcc("12.6")).level == "error"


def test_one_gpu_of_two_that_builds_do_not_run_on_is_named(finding, use_nvcc):
    found = finding(targets, nvcc=use_nvcc("12.6"), gpus=[H200, RTX])
    assert found.level == "error"
    assert "does not run on RTX 5090 (12.0)" in found.text


def test_a_list_without_the_gpu_is_an_error(finding, use_nvcc, monkeypatch):
    monkeypatch.setenv("FICTL_CUDA_ARCH_LIST", "8.0")
    found = finding(targets, nvcc=use_nvcc("13.0"), gpus=[H200])
    assert found.level == "error"
    assert "8.0 (FICTL_CUDA_ARCH_LIST), which does not run on NVIDIA H200 (9.0)" in found.text
    assert found.fix == "unset FICTL_CUDA_ARCH_LIST, or add 9.0 to it"


def test_a_listed_target_that_nvcc_lacks_is_a_warning(finding, use_nvcc, monkeypatch):
    monkeypatch.setenv("FICTL_CUDA_ARCH_LIST", "9.0a 10.3a")
    found = finding(targets, nvcc=use_nvcc("12.8"))
    assert found.level == "warning"
    assert "it is left out" in found.text
