"""What wrappers of attention refuse, and in which words."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from fictl.kernels.attention._plan.attention import Attention
from fictl.kernels.attention.decode import op as decode
from fictl.kernels.attention.prefill import op as prefill

from .recorded import (
    DIM,
    HEADS,
    INDICES,
    KV,
    KV_HEADS,
    LAST,
    PAGE,
    PAGED,
    PAGES,
    QO,
    Kernel,
    cache,
    graphs,
    ints,
    kv,
    paged,
    prefill_graphs,
    q,
    ragged,
    workspace,
)

pytestmark = pytest.mark.usefixtures("tensor_cores", "cuda_cores")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"causal": False}, "causal is False, the first plan\\(\\) had True"),
        ({"window_left": 5}, "window_left is 5, the first plan\\(\\) had -1"),
        ({"logits_soft_cap": 5.0}, "the kernel is Config"),
    ],
)
def test_what_graphs_have_by_value_may_not_change(changes: dict[str, Any], said: str) -> None:
    made = prefill_graphs()
    made.plan(QO, *PAGED, causal=True)
    with pytest.raises(ValueError, match=f"{said}.* captured CUDA graphs"):
        made.plan(QO, *PAGED, **{"causal": True, **changes})


def test_buffers_for_graphs_are_asked_for() -> None:
    with pytest.raises(ValueError, match=r"'paged_kv_indices_buffer' is None; with CUDA graphs"):
        decode.BatchDecodeWithPagedKVCacheWrapper(
            workspace(), use_cuda_graph=True, paged_kv_indptr_buffer=ints(3)
        )
    said = "'paged_kv_last_page_len_buffer' has 2 elements; by the 4 of 'paged_kv_indptr_buffer'"
    with pytest.raises(ValueError, match=said):
        decode.CUDAGraphBatchDecodeWithPagedKVCacheWrapper(workspace(), ints(4), ints(9), ints(2))
    with pytest.raises(
        ValueError, match=r"'indices' has 3 elements; 'paged_kv_indices_buffer'.*for 2"
    ):
        decode.CUDAGraphBatchDecodeWithPagedKVCacheWrapper(
            workspace(), ints(3), ints(2), ints(2)
        ).plan(*PAGED)
    with pytest.raises(ValueError, match=r"number of requests is 1, the first plan\(\) had 2"):
        made = graphs()
        made.plan(*PAGED)
        made.plan(PAGES[:2], INDICES, LAST[:1], HEADS, KV_HEADS, DIM, PAGE)


def test_run_before_plan_is_refused() -> None:
    made = prefill.BatchPrefillWithRaggedKVCacheWrapper(workspace())
    with pytest.raises(RuntimeError, match=r"RaggedKVCacheWrapper: run\(\) was called before plan"):
        made.run(q(), kv(), kv())


@pytest.mark.parametrize(
    ("q", "k", "v", "said"),
    [
        (q(4), kv(), kv(), r"'q' has shape \(4, 8, 64\), plan\(\) was told \(5, 8, 64\)"),
        (q().float(), kv(), kv(), "'q' has dtype torch.float32, plan.* torch.float16"),
        (q(), kv().bfloat16(), kv(), "'k' has dtype torch.bfloat16, plan.* torch.float16"),
        (q(), kv()[:, :1], kv(), "1 heads of 64 values; plan.* 2 of 64"),
        (q(), kv(), kv(8), r"keys have shape \(7, 2, 64\) .*, values \(8, 2, 64\)"),
        (q(), kv(), kv()[..., :32], r"values \(7, 2, 32\) .*plan.* told heads of values of 64"),
        (q(), kv(6), kv(6), "'k' has 6 tokens, kv_indptr goes to 7"),
    ],
)
def test_tensors_that_were_not_planned_are_refused(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, said: str
) -> None:
    with pytest.raises(ValueError, match=f"BatchPrefillWithRaggedKVCacheWrapper: .*{said}"):
        ragged().run(q, k, v)


def test_caches_that_were_not_planned_are_refused() -> None:
    made = paged(window_left=3)
    with pytest.raises(ValueError, match=r"pages of 2, plan\(\) was told 4"):
        made.run(q(), cache()[:, :, :2])
    with pytest.raises(ValueError, match=r"has shape \(10, 4, 2\); it is .*2, page_size, num"):
        made.run(q(), cache()[:, 0, ..., 0])
    with pytest.raises(TypeError, match=r"'paged_kv_cache' is a int; pass a tensor, or a tuple"):
        made.run(q(), 3)
    with pytest.raises(ValueError, match=r"'window_left' is 5, plan\(\) was told 3"):
        made.run(q(), cache(), window_left=5)
    with pytest.raises(TypeError, match=r"'out' has dtype torch.float32, plan.* torch.float16"):
        made.run(q(), cache(), out=q().float())
    with pytest.raises(ValueError, match=r"'lse' has shape \(8, 5\) .*; it is \(5, 8\)"):
        made.run(q(), cache(), lse=torch.empty(8, 5), return_lse=True)
    with pytest.raises(TypeError, match=r"'scalars' is for variants: slope"):
        made.run(q(), cache(), scalars={"slope": 1.0})


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"head_dim_vo": 520}, NotImplementedError, "values have 520 elements; .* up to 512"),
        ({"num_qo_heads": 7}, ValueError, "7 heads of queries to 2 of keys"),
        ({"head_dim_qk": 76}, NotImplementedError, "keys have 76 elements; .* multiples of 8"),
        (
            {"head_dim_qk": 72, "pos_encoding_mode": "ROPE_LLAMA"},
            NotImplementedError,
            "'ROPE_LLAMA' rotates heads of multiples of 16",
        ),
        (
            {"q_data_type": "float32"},
            TypeError,
            "q of float32; accepted: float16, bfloat16, float8",
        ),
        (
            {"kv_data_type": torch.bfloat16},
            TypeError,
            "k and v of bfloat16; accepted: float16 as q",
        ),
        ({"o_data_type": torch.float32}, TypeError, "out of float32; accepted"),
        ({"q_data_type": "half-ish"}, TypeError, "'q_data_type' is 'half-ish'"),
        ({"pos_encoding_mode": "ROPE"}, ValueError, "'pos_encoding_mode' is 'ROPE'; .* ROPE_LLAMA"),
        ({"logits_soft_cap": -1.0}, ValueError, "'logits_soft_cap' is -1.0"),
        ({"sm_scale": 0.0}, ValueError, "'sm_scale' is 0.0"),
        ({"sm_scale": torch.ones(2)}, ValueError, r"'sm_scale' has shape \(2,\)"),
        ({"prefix_len_ptr": QO}, ValueError, "'prefix_len_ptr' has 3 elements"),
        (
            {"paged_kv_indices": INDICES[:2]},
            ValueError,
            "'paged_kv_indices' has 2 elements, 'paged_kv_indptr' goes to 3",
        ),
        (
            {"paged_kv_indices": INDICES.float()},
            TypeError,
            "'paged_kv_indices' has .* torch.float32",
        ),
        (
            {"paged_kv_indptr": PAGES[None]},
            ValueError,
            r"'qo_indptr' has shape|'paged_kv_indptr' has shape \(1, 3\)",
        ),
        (
            {"paged_kv_last_page_len": LAST[:1]},
            ValueError,
            r"'paged_kv_last_page_len' has shape \(1,\); here it is \(2,\)",
        ),
        (
            {"paged_kv_last_page_len": LAST + 4},
            ValueError,
            "'paged_kv_last_page_len' is 7 at request 0",
        ),
        (
            {"seq_lens": LAST + 9},
            ValueError,
            "'seq_lens' is 12 at request 0, whose pages hold 0 to 4",
        ),
        ({"qo_indptr": QO.float()}, TypeError, "'qo_indptr' is of torch.float32"),
        (
            {"custom_mask": torch.ones(20, dtype=torch.bool)},
            ValueError,
            "'custom_mask' has 20 elements; the requests have 21",
        ),
        (
            {"packed_custom_mask": torch.ones(2, dtype=torch.uint8)},
            ValueError,
            "'packed_custom_mask' has 2 elements .* take 3",
        ),
    ],
)
def test_arguments_of_plan_that_do_not_fit_are_refused(
    options: dict[str, Any], error: type[Exception], said: str
) -> None:
    made = prefill.BatchPrefillWithPagedKVCacheWrapper(workspace())
    names = (
        "qo_indptr",
        "paged_kv_indptr",
        "paged_kv_indices",
        "paged_kv_last_page_len",
        "num_qo_heads",
        "num_kv_heads",
        "head_dim_qk",
        "page_size",
    )
    given = dict(zip(names, (QO, *PAGED), strict=True))
    with pytest.raises(error, match=f"BatchPrefillWithPagedKVCacheWrapper: .*{said}"):
        made.plan(**{**given, **options})


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"kv_layout": "NDH"}, ValueError, "'kv_layout' is 'NDH'; it is one of NHD, HND"),
        (
            {"backend": "cudnn"},
            NotImplementedError,
            "'backend' is 'cudnn', .* 'auto', 'fa2', 'fa3'",
        ),
        ({"jit_args": [1]}, NotImplementedError, "'jit_args' is given; .*define_variant"),
        (
            {"float_workspace_buffer": workspace()[4:]},
            ValueError,
            "begins 4 bytes beyond a multiple of 16",
        ),
        (
            {"float_workspace_buffer": workspace()[::2]},
            ValueError,
            "'float_workspace_buffer' is not contiguous",
        ),
    ],
)
@pytest.mark.parametrize(
    "wrapper",
    [
        prefill.BatchPrefillWithRaggedKVCacheWrapper,
        prefill.BatchPrefillWithPagedKVCacheWrapper,
        decode.BatchDecodeWithPagedKVCacheWrapper,
    ],
)
def test_arguments_of_wrappers_that_do_not_fit_are_refused(
    wrapper: Any, options: dict[str, Any], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=f"{wrapper.__name__}: .*{said}"):
        wrapper(**{"float_workspace_buffer": workspace(), **options})


def test_a_failed_plan_leaves_the_last_one(tensor_cores: Kernel) -> None:
    made: Attention = (wrapper := ragged())._attention
    counts = made.counts
    with pytest.raises(ValueError, match=r"never falls"):
        wrapper.plan(torch.tensor([0, 3, 2]).int(), KV, HEADS, KV_HEADS, DIM)
    wrapper.run(q(), kv(), kv())
    assert made.counts is counts
