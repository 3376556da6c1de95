"""Enumerations by FlashInfer's numbers, FP4Tensor, and the little that engines need at their start."""

from __future__ import annotations

import logging

import pytest
import torch

from fictl.compat import flashinfer
from fictl.compat.flashinfer import fused_moe, tllm_enums, utils
from fictl.compat.flashinfer.jit.core import check_cuda_arch, logger

GATED = ["Swiglu", "Geglu", "SwigluBias", "SwigluStep", "GegluTanh", "Situ"]


def test_values_are_those_that_engines_store() -> None:
    names = "Gelu Relu Silu Swiglu Geglu SwigluBias Relu2 SwigluStep GegluTanh Identity Situ"
    listed = [*names.split(), "InvalidType", "ClampedRelu2"]
    assert [kind.name for kind in flashinfer.ActivationType] == listed
    assert [kind.value for kind in flashinfer.ActivationType] == [*range(13)]
    assert flashinfer.RoutingMethodType.DeepSeekV3 == 2
    assert flashinfer.RoutingMethodType.Unspecified == 10
    assert [kind.value for kind in fused_moe.WeightLayout] == [0, 1, 2]
    assert fused_moe.Fp8QuantizationType.PerChannelFp8 == 4
    assert repr(flashinfer.ActivationType.Silu) == "ActivationType.Silu"
    assert torch.finfo(torch.float32).max == tllm_enums.DEFAULT_SWIGLU_LIMIT


def test_a_place_has_the_same_enumeration_as_another() -> None:
    from fictl.compat.flashinfer.fused_moe.core import ActivationType

    assert ActivationType is tllm_enums.ActivationType is flashinfer.ActivationType


def test_gated_activations() -> None:
    gated = [kind.name for kind in tllm_enums.ActivationType if kind.is_gated]
    assert gated == GATED
    assert flashinfer.is_gated_activation(3)
    assert not flashinfer.is_gated_activation(0)
    with pytest.raises(ValueError, match="13 is not an activation"):
        flashinfer.is_gated_activation(13)


def test_a_tensor_of_four_bits_holds_what_fits() -> None:
    data = torch.zeros(5, 8, dtype=torch.uint8)
    scale = torch.zeros(128, 1, dtype=torch.float8_e4m3fn)
    tensor = utils.FP4Tensor(data, scale, 123, (5, 15))
    assert (tensor.data is data, tensor.scale is scale, tensor.dtype) == (True, True, "nvfp4")
    assert (tensor.scale_start_index, tensor.original_shape) == (123, (5, 15))


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        ({"data": torch.zeros(5, 8)}, "data is torch.float32"),
        ({"scale": torch.zeros(128, 1)}, "scale is torch.float32"),
        ({"scale": torch.zeros(127, 1, dtype=torch.float8_e4m3fn)}, "scale has 127 rows"),
        ({"scale_start_index": -1}, "scale_start_index=-1 with 5 rows"),
        ({"scale_start_index": 124}, "scale_start_index=124 with 5 rows"),
        ({"scale_start_index": 128}, "scale_start_index=128 with 5 rows"),
        ({"original_shape": (4, 16)}, r"data has the shape \(5, 8\)"),
        ({"original_shape": (5, 17)}, r"data has the shape \(5, 8\)"),
    ],
)
def test_another_is_refused(words, refusal: str) -> None:
    fits = {
        "data": torch.zeros(5, 8, dtype=torch.uint8),
        "scale": torch.zeros(128, 1, dtype=torch.float8_e4m3fn),
    }
    with pytest.raises(ValueError, match=refusal):
        utils.FP4Tensor(**{**fits, **words})


def test_counters_have_a_place_for_each_head_and_multiprocessor() -> None:
    size = utils.get_trtllm_gen_multi_ctas_kv_counter_bytes
    assert [size(*numbers) for numbers in ((1, 1, 132), (3, 32, 132), (64, 64, 132))] == [
        544,
        544,
        16384,
    ]


def test_the_second_name_is_the_same_op() -> None:
    from fictl.compat.flashinfer.fp4_quantization import nvfp4_block_scale_interleave

    assert nvfp4_block_scale_interleave is flashinfer.block_scale_interleave


def test_an_architecture_of_ours_is_enough_for_a_start(monkeypatch) -> None:
    """TensorRT-LLM asks when its backend is imported."""
    monkeypatch.setenv("FICTL_CUDA_ARCH_LIST", "9.0a")
    check_cuda_arch()


def test_no_architecture_is_refused_as_engines_expect(monkeypatch) -> None:
    monkeypatch.setattr(
        "fictl.compat.flashinfer._jit.current_compilation_context.TARGET_CUDA_ARCHS", {(7, "0")}
    )
    with pytest.raises(RuntimeError, match=r"need architecture 7\.5 or newer; found: 7\.0"):
        check_cuda_arch()


def test_the_logger_is_fictl_s() -> None:
    """SGLang quiets it when its server starts."""
    assert logger is logging.getLogger("fictl")


def test_a_communicator_can_be_declared() -> None:
    from fictl.compat.flashinfer.comm.mnnvl import CommBackend

    class Own(CommBackend):
        def __init__(self, group: object) -> None:
            self.group = group

        def Get_rank(self) -> int:  # noqa: N802
            return 3

    assert Own("group").Get_rank() == 3
    assert isinstance(Own("group"), CommBackend)
