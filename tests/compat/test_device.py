"""What flashinfer.utils says of a device and of attention's backends."""

from __future__ import annotations

import pytest
import torch

from fictl.compat.flashinfer import utils

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


def test_the_backend_of_attention_is_the_one_that_there_is() -> None:
    words = (GPU, utils.PosEncodingMode.NONE.value, False, False, torch.float16, torch.float16)
    assert utils.determine_attention_backend(*words, head_dim_qk=128, head_dim_vo=128) == "fa2"
    assert not utils.is_fa3_backend_supported(*words[1:])
    assert not utils.is_cutlass_backend_supported(*words[1:])
    assert not utils.is_fa3_prefill_head_dim_supported(128, 128)


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
