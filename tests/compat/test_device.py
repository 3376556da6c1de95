"""What flashinfer.utils says of a device and of attention's backends."""

from __future__ import annotations

import pytest
import torch

from fictl.compat.flashinfer import _attention_backend, utils

CPU, GPU = torch.device("cpu"), torch.device("cuda:0")


def test_the_cpu_is_no_gpu() -> None:
    assert utils.device_support_pdl(CPU) is False
    for ask in (utils.get_compute_capability, utils.get_device_sm_count, utils.get_device_index):
        with pytest.raises(ValueError, match="cpu is not a CUDA device"):
            ask(CPU)


def test_the_emulated_device_has_a_capability(monkeypatch) -> None:
    monkeypatch.setenv("FICTL_DEVICE", "emu")
    assert utils.get_compute_capability(CPU) == (9, 0)


@pytest.mark.needs_gpu
def test_a_gpu_is_asked() -> None:
    properties = torch.cuda.get_device_properties(0)
    assert utils.get_device_sm_count(GPU) == properties.multi_processor_count
    assert utils.get_compute_capability(GPU) == torch.cuda.get_device_capability(0)
    assert utils.device_support_pdl(GPU) == (properties.major >= 9)
    assert utils.get_device_name(GPU) == properties.name
    assert utils.get_device_index(torch.device("cuda")) == torch.cuda.current_device()
    assert utils.get_shared_bytes_per_block_optin(GPU) >= 48 << 10


@pytest.mark.parametrize("mode", utils.PosEncodingMode)
@pytest.mark.parametrize("dims", [(64, 64), (128, 128), (256, 256), (192, 128), (192, 192)])
@pytest.mark.parametrize("q", [torch.float16, torch.bfloat16, torch.float8_e4m3fn])
def test_the_backend_of_attention_is_what_plans_choose(
    q: torch.dtype,
    dims: tuple[int, int],
    mode: utils.PosEncodingMode,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from fictl.kernels.attention._backends import PREFILL

    monkeypatch.setenv("FICTL_DEVICE", "emu")
    chosen = PREFILL.choose("op", CPU, "auto", *dims, 1, mode.name, q, False).backend
    words = (mode.value, False, False, q, q)
    qk, vo = dims
    found = utils.determine_attention_backend(CPU, *words, head_dim_qk=qk, head_dim_vo=vo)
    assert found == {"sm90": "fa3", "sm80": "fa2"}[chosen]


def test_only_hopper_has_its_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    words = (utils.PosEncodingMode.NONE.value, False, False, torch.float16, torch.float16)
    for capability, word in (((8, 0), "fa2"), ((9, 0), "fa3"), ((10, 0), "fa2")):
        monkeypatch.setattr(_attention_backend, "get_compute_capability", lambda _, c=capability: c)
        assert utils.determine_attention_backend(GPU, *words) == word
    assert not utils.is_cutlass_backend_supported(*words)
    assert not utils.is_fa3_prefill_head_dim_supported(128, 64)


def test_modes_have_flashinfer_s_numbers() -> None:
    assert [(each.name, each.value) for each in utils.PosEncodingMode] == [
        ("NONE", 0),
        ("ROPE_LLAMA", 1),
        ("ALIBI", 2),
    ]
    assert [(each.name, each.value) for each in utils.MaskMode] == [
        ("NON_CAUSAL", 0),
        ("CAUSAL", 1),
        ("CUSTOM", 2),
        ("MULTIITEMSCORING", 3),
    ]
    assert [(each.name, each.value) for each in utils.TensorLayout] == [("NHD", 0), ("HND", 1)]


def test_errors_are_those_that_fictl_raises() -> None:
    from fictl.errors import NotInstalled, NotOnDevice
    from fictl.op import BackendRefused

    assert utils.BackendSupportedError is BackendRefused
    assert utils.GPUArchitectureError is NotOnDevice
    assert utils.LibraryError is NotInstalled
