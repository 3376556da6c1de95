"""The wrapper of sinks: what prefill's run() gets; its kernels are tested with prefill."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from fictl.kernels.attention._sink_wrapper import BatchAttentionWithAttentionSinkWrapper
from fictl.kernels.attention.prefill.op import BatchPrefillWithPagedKVCacheWrapper

from .recorded import DIM, HEADS, PAGED, QO, Kernel, cache, paged, q, workspace

pytestmark = pytest.mark.usefixtures("tensor_cores", "cuda_cores")
SINK = torch.arange(HEADS, dtype=torch.float32)


def _planned(**options: Any) -> Any:
    words = {"q_data_type": torch.bfloat16, "head_dim_qk": DIM, "head_dim_vo": DIM}
    wrapper = BatchAttentionWithAttentionSinkWrapper(workspace(), "NHD", backend="auto", **words)
    wrapper.plan(QO, *PAGED, **options)
    return wrapper


def test_it_is_prefill_with_a_sink(tensor_cores: Kernel) -> None:
    _planned(causal=True, window_left=3).run(q(), cache(), SINK, 0.25, v_scale=2.0)
    ours = tensor_cores.call
    paged(causal=True, window_left=3, sm_scale=0.25).run(q(), cache(), sinks=SINK, v_scale=2.0)
    theirs = tensor_cores.call
    names = ("sinks", "v_scale", "window_left", "causal", "soft_cap", "lse", "scale_q")
    assert torch.equal(ours["sinks"], SINK)
    for name in names[1:]:
        assert ours[name] == theirs[name]
    assert ours["sm_scale"] == pytest.approx(0.25)
    assert torch.equal(ours["items"], theirs["items"])


@pytest.mark.parametrize("planned", [None, 0.5])
def test_the_scale_of_the_run_is_in_place_of_the_plan_s(planned, tensor_cores: Kernel) -> None:
    wrapper = _planned(sm_scale=planned)
    wrapper.run(q(), cache(), SINK, 0.1)
    assert tensor_cores.call["sm_scale"] == pytest.approx(0.1)
    wrapper.run(q(), cache(), SINK, 0.1, q_scale=2.0, k_scale=3.0)
    assert tensor_cores.call["sm_scale"] == pytest.approx(0.6)


def test_the_sum_of_the_softmax_is_given_too(tensor_cores: Kernel) -> None:
    out, lse = _planned().run_return_lse(q(), cache(), SINK, 0.1)
    assert (out.shape, lse.shape) == ((5, HEADS, DIM), (5, HEADS))
    assert tensor_cores.call["lse"] is not None


def test_engines_tell_it_from_the_one_without_a_sink() -> None:
    assert isinstance(_planned(), BatchPrefillWithPagedKVCacheWrapper)
    assert not isinstance(paged(), BatchAttentionWithAttentionSinkWrapper)
