"""FlashInfer's fused all-reduces, by both of its doors, over ranks of this process."""

from __future__ import annotations

import inspect
import logging
import os
from collections.abc import Callable
from typing import Any

import pytest
import torch

from fictl.comm import Group
from fictl.compat.flashinfer import comm
from fictl.compat.flashinfer.comm import AllReduceFusionPattern as Pattern
from fictl.testing import run_ranks

CACHE = os.environ.get("FICTL_WORKSPACE_BASE", "")
TOKENS, HIDDEN, EPS = 3, 256, 1e-5
DTYPE = torch.bfloat16
BYTES = torch.uint8


@pytest.fixture(autouse=True)
def _emulated(_isolated: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the user's cache: kernels are compiled once for all tests."""
    monkeypatch.setenv("FICTL_DEVICE", "emu")
    monkeypatch.setenv("FICTL_WORKSPACE_BASE", CACHE)


def _on_ranks(call: Callable[[int], Any]) -> list[Any]:
    return run_ranks([lambda rank=rank: call(rank) for rank in range(2)])  # type: ignore[misc]


def _workspaces(**options: Any) -> list[Any]:
    sizes = {"max_token_num": TOKENS, "hidden_dim": HIDDEN, "dtype": DTYPE, **options}
    groups = Group.local(2)
    return [comm.create_allreduce_fusion_workspace(group=group, **sizes) for group in groups]


class Fusion:
    """Inputs of two ranks, and what their sum, residual and norm are."""

    def __init__(self) -> None:
        self.inputs = [torch.randn(TOKENS, HIDDEN).to(DTYPE) for _ in range(2)]
        self.residual = torch.randn(TOKENS, HIDDEN).to(DTYPE)
        self.gamma = torch.randn(HIDDEN).to(DTYPE)
        self.sum = (self.inputs[0].float() + self.inputs[1].float()).to(DTYPE)
        self.added = (self.sum.float() + self.residual.float()).to(DTYPE)

    def norm(self, added: torch.Tensor | None = None) -> torch.Tensor:
        x = (self.added if added is None else added).double()
        factor = torch.rsqrt(x.square().mean(-1, keepdim=True) + EPS)
        return (x * factor * (self.gamma.double() + 1.0)).to(DTYPE)

    @property
    def arguments(self) -> dict[str, Any]:
        return {
            "residual_in": self.residual,
            "rms_gamma": self.gamma,
            "rms_eps": EPS,
            "weight_bias": 1.0,
        }


@pytest.fixture
def fusion() -> Fusion:
    return Fusion()


# Arguments of each pattern, and the bytes of a quantized row.
_FP8 = {"scale_factor": 0.02}
_FP4 = {"scale_factor": torch.tensor([2.0]), "layout_code": comm.QuantizationSFLayout.LINEAR}
_GROUPS = {"block_quant_group_size": 128}


def _outputs(pattern: int) -> dict[str, torch.Tensor]:
    """Make what a pattern quantizes to."""
    if pattern in (2, 4):
        return {"quant_out": torch.empty(TOKENS, HIDDEN, dtype=torch.float8_e4m3fn)}
    if pattern in (3, 5):
        scales = torch.empty(TOKENS, HIDDEN // 16, dtype=BYTES)
        return {"quant_out": torch.empty(TOKENS, HIDDEN // 2, dtype=BYTES), "scale_out": scales}
    quant = {"quant_out": torch.empty(TOKENS, HIDDEN, dtype=torch.float8_e4m3fn)}
    if pattern in (8, 9):
        return {**quant, "scale_out": torch.empty(1, 4, dtype=torch.int32).t()[:TOKENS]}
    return {**quant, "scale_out": torch.empty(TOKENS, 1)}


def _values(pattern: int, outputs: dict[str, torch.Tensor]) -> torch.Tensor:
    """Return the numbers that quantized outputs stand for."""
    quant = outputs["quant_out"]
    if pattern in (2, 4):
        return quant.double() * 0.02
    if pattern in (10, 11):
        return quant.double() * outputs["scale_out"].double()
    if pattern in (8, 9):
        words = outputs["scale_out"].clone(memory_format=torch.contiguous_format)
        exponents = words.view(BYTES)[:, : HIDDEN // 128].double() - 127
        return quant.double() * torch.exp2(exponents).repeat_interleave(128, -1)
    codes = torch.stack([quant & 15, quant >> 4], -1).flatten(1).long()
    numbers = torch.tensor([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0])
    signed = torch.where(codes < 8, numbers[codes % 8], -numbers[codes % 8])
    scales = outputs["scale_out"].view(torch.float8_e4m3fn).double() / 2.0
    return signed.double() * scales.repeat_interleave(16, -1)


@pytest.mark.parametrize("one_shot", [None, True, False])
def test_the_sum_alone(one_shot: bool | None, fusion: Fusion) -> None:
    workspaces = _workspaces()
    for out in _on_ranks(
        lambda rank: comm.allreduce_fusion(
            fusion.inputs[rank], workspaces[rank], Pattern.kAllReduce, use_oneshot=one_shot
        )
    ):
        assert torch.equal(out, fusion.sum)


def test_residual_and_norm(fusion: Fusion) -> None:
    workspaces = _workspaces()
    added = [torch.empty_like(fusion.residual) for _ in range(2)]
    sums = [torch.empty_like(fusion.residual) for _ in range(2)]
    results = _on_ranks(
        lambda rank: comm.allreduce_fusion(
            fusion.inputs[rank],
            workspaces[rank],
            Pattern.kARResidualRMSNorm,
            residual_out=added[rank],
            output=sums[rank],
            **fusion.arguments,
        )
    )
    for rank, out in enumerate(results):
        assert torch.equal(added[rank], fusion.added)
        assert torch.equal(sums[rank], fusion.sum)
        torch.testing.assert_close(out, fusion.norm())


@pytest.mark.parametrize(
    ("pattern", "options", "tolerance"),
    [
        (2, _FP8, 0.07),
        (4, _FP8, 0.07),
        (3, _FP4, 0.26),
        (5, _FP4, 0.26),
        (8, _GROUPS, 0.07),
        (9, _GROUPS, 0.07),
        (10, {}, 0.07),
        (11, {}, 0.07),
    ],
)
def test_patterns_that_quantize(
    pattern: int, options: dict[str, Any], tolerance: float, fusion: Fusion
) -> None:
    workspaces = _workspaces()
    outputs = [_outputs(pattern) for _ in range(2)]
    results = _on_ranks(
        lambda rank: comm.allreduce_fusion(
            fusion.inputs[rank],
            workspaces[rank],
            pattern,
            **outputs[rank],
            **options,
            **fusion.arguments,
        )
    )
    norm = fusion.norm()
    for rank, out in enumerate(results):
        if pattern in (4, 5, 9, 11):
            torch.testing.assert_close(out, norm)
        else:
            assert out is outputs[rank]["quant_out"]
        near = _values(pattern, outputs[rank])
        most = 448 * _FP8["scale_factor"] if pattern in (2, 4) else torch.inf
        expected = norm.double().clamp(-most, most)
        torch.testing.assert_close(near, expected, rtol=tolerance, atol=2 * tolerance)
        assert torch.equal(
            outputs[rank]["quant_out"].view(BYTES), outputs[0]["quant_out"].view(BYTES)
        )


def test_the_output_of_experts(fusion: Fusion) -> None:
    workspaces = _workspaces()
    experts = [torch.randn(4 * TOKENS, HIDDEN).to(DTYPE) for _ in range(2)]
    scales = [torch.rand(4, TOKENS) for _ in range(2)]
    parts = [
        (torch.einsum("eth,et->th", e.view(4, TOKENS, -1).double(), s.double()) + x.double()).to(
            DTYPE
        )
        for e, s, x in zip(experts, scales, fusion.inputs, strict=True)
    ]
    total = (parts[0].float() + parts[1].float()).to(DTYPE)
    expected = fusion.norm((total.float() + fusion.residual.float()).to(DTYPE))
    for out in _on_ranks(
        lambda rank: comm.allreduce_fusion(
            fusion.inputs[rank],
            workspaces[rank],
            Pattern.kMoEReductionARResidualRMSNorm,
            moe_reduction_device_num_experts=4,
            moe_reduction_scale_input=scales[rank],
            moe_reduction_active_experts_token_input=experts[rank],
            moe_reduction_token_input=fusion.inputs[rank],
            **fusion.arguments,
        )
    ):
        torch.testing.assert_close(out, expected, rtol=0.02, atol=0.02)


def test_experts_by_token_and_those_that_all_tokens_share(fusion: Fusion) -> None:
    workspaces = _workspaces()
    rows = [torch.randn(9, HIDDEN).to(DTYPE) for _ in range(2)]
    places = torch.tensor([[0, -1], [8, 3], [2, 2]], dtype=torch.int32)
    scales = torch.rand(TOKENS, 2).to(DTYPE)
    total = torch.zeros(TOKENS, HIDDEN)
    for own, shared in zip(rows, fusion.inputs, strict=True):
        gathered = own.double()[places.clamp(min=0).long()] * (places >= 0).unsqueeze(-1)
        part = (gathered * scales.double().unsqueeze(-1)).sum(1) + shared.double()
        total += part.to(DTYPE).float()
    added = (total.to(DTYPE).float() + fusion.residual.float()).to(DTYPE)
    for out in _on_ranks(
        lambda rank: comm.allreduce_fusion(
            rows[rank],
            workspaces[rank],
            Pattern.kMoEFinalizeARResidualRMSNorm,
            expanded_idx_to_permuted_idx=places,
            expert_scale_factor=scales,
            shared_expert_output=fusion.inputs[rank],
            **fusion.arguments,
        )
    ):
        torch.testing.assert_close(out, fusion.norm(added), rtol=0.02, atol=0.02)


class OlderDoor:
    """Workspaces of two ranks as lists of addresses and tensors of pointers."""

    def __init__(self) -> None:
        self.made = [
            comm.trtllm_create_ipc_workspace_for_all_reduce_fusion(
                rank, 2, TOKENS, HIDDEN, group=group, create_metadata=True
            )
            for rank, group in enumerate(Group.local(2))
        ]

    def sum(self, fusion: Fusion) -> list[torch.Tensor]:
        outs = [torch.empty(TOKENS * HIDDEN, dtype=DTYPE) for _ in range(2)]
        nothing = dict.fromkeys(
            inspect.signature(comm.trtllm_allreduce_fusion).parameters  # those of the norm
        )

        def call(rank: int) -> None:
            comm.trtllm_allreduce_fusion(
                **{
                    **nothing,
                    "allreduce_in": fusion.inputs[rank].flatten(),
                    "world_size": 2,
                    "world_rank": rank,
                    "token_num": TOKENS,
                    "hidden_dim": HIDDEN,
                    "workspace_ptrs": self.made[rank][1],
                    "launch_with_pdl": True,
                    "trigger_completion_at_end": True,
                    "pattern_code": Pattern.kAllReduce,
                    "allreduce_out": outs[rank],
                }
            )

        _on_ranks(call)
        return outs


def test_the_older_door(fusion: Fusion) -> None:
    door = OlderDoor()
    addresses, _, metadata = door.made[1]
    assert metadata["tp_rank"] == 1
    assert [len(part) for part in addresses] == [2, 2, 2]
    for buffers in (1, 3):  # initialized as FlashInfer's callers do, and then used
        for rank in range(2):
            lamport = door.made[rank][0][2][rank]
            size = TOKENS * HIDDEN
            if buffers == 1:
                comm.trtllm_lamport_initialize(lamport, size, torch.float16)
            else:
                comm.trtllm_lamport_initialize_all(lamport, lamport, lamport, size, torch.float16)
        for out in door.sum(fusion):
            assert torch.equal(out.view(TOKENS, -1), fusion.sum)
    for addresses, _, _ in door.made:
        comm.trtllm_destroy_ipc_workspace_for_all_reduce_fusion(addresses)
    with pytest.raises(Exception, match="not a workspace that is alive"):
        door.sum(fusion)


def test_experts_by_the_older_door(fusion: Fusion) -> None:
    door = OlderDoor()
    rows = [torch.randn(4, HIDDEN).to(DTYPE) for _ in range(2)]
    places = torch.tensor([[0], [3], [-1]], dtype=torch.int32)
    outs = [torch.empty_like(fusion.residual) for _ in range(2)]
    added = [torch.empty_like(fusion.residual) for _ in range(2)]

    def call(rank: int) -> None:
        comm.trtllm_moe_finalize_allreduce_fusion(
            rows[rank],
            fusion.residual,
            fusion.gamma,
            places,
            outs[rank],
            added[rank],
            None,
            None,
            door.made[rank][1],
            False,
            rank,
            2,
            EPS,
            None,
            None,
            2.0,
            1.0,
        )

    _on_ranks(call)
    kept = torch.tensor([[1.0], [1.0], [0.0]])
    total = sum((2 * own[[0, 3, 0]].float() * kept for own in rows), torch.zeros(TOKENS, HIDDEN))
    expected = (total.to(DTYPE).float() + fusion.residual.float()).to(DTYPE)
    for rank in range(2):
        assert torch.equal(added[rank], expected)
        torch.testing.assert_close(outs[rank], fusion.norm(expected))


def test_memory_of_others_is_initialized_with_negative_zeros() -> None:
    memory = torch.ones(8)
    comm.trtllm_lamport_initialize(memory.data_ptr(), 4, torch.float32)
    assert memory.tolist() == [0.0] * 4 + [1.0] * 4
    assert bool(torch.signbit(memory[0]))


def test_a_workspace(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        first, _ = _workspaces(backend="mnnvl")
    assert "CUDA IPC alone" in caplog.text
    assert isinstance(first, comm.TRTLLMAllReduceFusionWorkspace)
    assert isinstance(first, comm.AllReduceFusionWorkspace)
    assert (first.backend, first.rank, first.world_size) == ("trtllm", 0, 2)
    assert first.is_buffer_size_sufficient(2, TOKENS, HIDDEN, DTYPE)
    assert first.is_buffer_size_sufficient(2, 1, TOKENS * HIDDEN, DTYPE)
    assert not first.is_buffer_size_sufficient(2, TOKENS, HIDDEN, torch.float32)
    assert not first.is_buffer_size_sufficient(4, TOKENS, HIDDEN, DTYPE)
    first.destroy()
    with pytest.raises(NotImplementedError, match="addresses"):
        first.checkpoint_prepare()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda x, w: comm.allreduce_fusion(x, w, 12, residual_in=x, rms_gamma=x[0]), "0 to 11"),
        (lambda x, w: comm.allreduce_fusion(x, w, 1), "residual_in is required for pattern 1"),
        (lambda x, w: comm.allreduce_fusion(x, object(), 0), "create_allreduce_fusion_workspace"),
        (lambda x, w: comm.allreduce_fusion(x, w, 0, moe_finalize_backend="cake"), "Blackwell"),
        (lambda x, w: _workspaces(backend="nvls"), "accepted: auto, trtllm, mnnvl"),
        (lambda x, w: _workspaces(world_size=4, rank=0), "pass group="),
    ],
)
def test_refusals(call: Callable[..., Any], words: str) -> None:
    x = torch.zeros(TOKENS, HIDDEN, dtype=DTYPE)
    with pytest.raises((ValueError, TypeError, RuntimeError), match=words):
        call(x, _workspaces()[0])
