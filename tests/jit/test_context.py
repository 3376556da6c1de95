from __future__ import annotations

import logging

import pytest

from fictl.arch import Arch
from fictl.errors import FictlError
from fictl.jit.context import CompilationContext
from fictl.toolchain import Gpu, Probe


@pytest.fixture
def see_gpus(monkeypatch):
    def see(*numbers: tuple[int, int]) -> None:
        seen = tuple(Gpu(i, f"GPU{i}", Arch(*number)) for i, number in enumerate(numbers))
        monkeypatch.setattr("fictl.toolchain.arch_request.probe", lambda: Probe(seen))
        monkeypatch.setattr("fictl.jit.context.visible_gpus", lambda: seen)

    see()
    return see


@pytest.fixture
def context(use_nvcc, see_gpus, monkeypatch):
    monkeypatch.delenv("FICTL_CUDA_ARCH_LIST", raising=False)
    use_nvcc("13.0")
    return CompilationContext()


def test_detected_gpus_from_hopper_on_get_their_a_target(context, see_gpus):
    see_gpus((9, 0), (10, 0))
    assert {(9, "0a"), (10, "0a")} == context.TARGET_CUDA_ARCHS


def test_the_list_overrides_the_gpus(context, see_gpus, monkeypatch):
    see_gpus((9, 0))
    monkeypatch.setenv("FICTL_CUDA_ARCH_LIST", "8.0 10.0f")
    assert {(8, "0"), (10, "0f")} == context.TARGET_CUDA_ARCHS


def test_none_means_all_targets(context, monkeypatch):
    monkeypatch.setenv("FICTL_CUDA_ARCH_LIST", "8.0 9.0a")
    assert context.get_nvcc_flags_list(supported_major_versions=None) == [
        "-gencode=arch=compute_80,code=sm_80",
        "-gencode=arch=compute_90a,code=sm_90a",
    ]


def test_only_the_supported_major_versions_are_taken(context, monkeypatch):
    monkeypatch.setenv("FICTL_CUDA_ARCH_LIST", "8.0 9.0a 10.0a 12.0a")
    assert context.get_nvcc_flags_list(supported_major_versions=[9, 10]) == [
        "-gencode=arch=compute_90a,code=sm_90a",
        "-gencode=arch=compute_100a,code=sm_100a",
        "-DFICTL_ENABLE_FP8_E8M0",
        "-DFICTL_ENABLE_FP4_E2M1",
    ]


def test_ptx_survives(context, monkeypatch):
    monkeypatch.setenv("FICTL_CUDA_ARCH_LIST", "8.0+PTX")
    assert context.get_nvcc_flags_list() == ["-gencode=arch=compute_80,code=[sm_80,compute_80]"]


def test_a_miss_is_a_runtime_error_with_the_known_words_gpu_toolkit_and_way_out(context, see_gpus):
    see_gpus((8, 0))
    with pytest.raises(RuntimeError) as caught:
        context.get_nvcc_flags_list(supported_major_versions=[9, 10])
    text = str(caught.value)
    assert "No supported CUDA architectures found for major versions [9, 10]" in text
    for fact in ("8.0 (GPUs present)", "GPU0 (8.0)", "nvcc 13.0", "FICTL_CUDA_ARCH_LIST"):
        assert fact in text


def test_without_gpu_and_list_there_are_no_targets_and_the_reason_is_kept(context):
    assert set() == context.TARGET_CUDA_ARCHS
    with pytest.raises(RuntimeError, match="no GPU is visible and FICTL_CUDA_ARCH_LIST is not set"):
        context.get_nvcc_flags_list(supported_major_versions=[9])


def test_a_list_that_cannot_be_read_is_an_error_that_names_the_token(context, monkeypatch):
    monkeypatch.setenv("FICTL_CUDA_ARCH_LIST", "9.0a ninety")
    with pytest.raises(FictlError, match="'ninety'"):
        context.get_nvcc_flags_list()


def test_the_environment_is_read_at_every_question(context, monkeypatch):
    monkeypatch.setenv("FICTL_CUDA_ARCH_LIST", "9.0a")
    assert {(9, "0a")} == context.TARGET_CUDA_ARCHS
    monkeypatch.setenv("FICTL_CUDA_ARCH_LIST", "8.0")
    assert {(8, "0")} == context.TARGET_CUDA_ARCHS


CHANGES = {
    "the list": lambda patch, see: patch.setenv("FICTL_CUDA_ARCH_LIST", "9.0a"),
    "a GPU": lambda patch, see: see((9, 0)),
    "a switch": lambda patch, see: patch.setenv("FICTL_ENABLE_SM120A", "1"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_after_an_error_what_its_hint_says_helps(context, monkeypatch, see_gpus, change):
    for _ in range(2):
        with pytest.raises(RuntimeError, match="no GPU is visible"):
            context.get_nvcc_flags_list(supported_major_versions=[9, 12])
    change(monkeypatch, see_gpus)
    assert len(context.get_nvcc_flags_list(supported_major_versions=[9, 12])) >= 1


def test_after_an_old_toolkit_a_newer_one_is_asked(context, use_nvcc, monkeypatch):
    use_nvcc("12.6")
    monkeypatch.setenv("FICTL_CUDA_ARCH_LIST", "10.3a")
    with pytest.raises(RuntimeError, match=r"nvcc 12\.6 cannot target 10\.3a"):
        context.get_nvcc_flags_list()
    use_nvcc("13.0")
    assert context.get_nvcc_flags_list()[0] == "-gencode=arch=compute_103a,code=sm_103a"


def test_targets_that_the_caller_sets_are_used(context, monkeypatch):
    context.TARGET_CUDA_ARCHS = {(9, "0a")}
    monkeypatch.setenv("FICTL_CUDA_ARCH_LIST", "8.0")
    assert context.get_nvcc_flags_list() == ["-gencode=arch=compute_90a,code=sm_90a"]
    with pytest.raises(RuntimeError, match=r"TARGET_CUDA_ARCHS was set to 9\.0a"):
        context.get_nvcc_flags_list([12])


def test_what_the_toolkit_lacks_is_logged_once(use_nvcc, see_gpus, monkeypatch, caplog):
    use_nvcc("12.8")
    monkeypatch.setenv("FICTL_CUDA_ARCH_LIST", "9.0a 10.3a")
    context = CompilationContext()
    with caplog.at_level(logging.WARNING, "fictl"):
        context.get_nvcc_flags_list()
        context.get_nvcc_flags_list([9])
    assert [record.message for record in caplog.records] == [
        "nvcc 12.8 cannot target 10.3a (CUDA 12.9 has it): it is left out"
    ]
