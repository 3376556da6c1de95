"""fast_decode_plan: plan()'s list of work, and not a byte in the buffers of the caller."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from fictl.kernels.attention._fast_decode_plan import fast_decode_plan

from .recorded import (
    DIM,
    HEADS,
    INDICES,
    KV_HEADS,
    LAST,
    PAGE,
    PAGED,
    PAGES,
    Kernel,
    cache,
    decoding,
    graphs,
    q,
)

pytestmark = pytest.mark.usefixtures("tensor_cores", "cuda_cores")
BUFFERS = ("paged_kv_indptr_buffer", "paged_kv_indices_buffer", "paged_kv_last_page_len_buffer")
GARBAGE = 77


def _call(wrapper: Any, kernel: Kernel, tokens: int = 2) -> dict[str, Any]:
    wrapper.run(q(tokens), cache())
    return kernel.call


def _same_work(one: dict[str, Any], other: dict[str, Any]) -> bool:
    names = ("items", "merges", "list")
    pairs = [(one[name], other[name]) for name in names]
    return all(torch.equal(a, b) if isinstance(a, torch.Tensor) else a == b for a, b in pairs)


def _tensor(*values: int) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.int32)


def test_without_graphs_it_is_plan(tensor_cores: Kernel) -> None:
    planned = _call(decoding(logits_soft_cap=30.0, window_left=3, sm_scale=0.5), tensor_cores)
    wrapper = decoding()
    fast_decode_plan(wrapper, *PAGED, logits_soft_cap=30.0, window_left=3, sm_scale=0.5)
    fast = _call(wrapper, tensor_cores)
    assert _same_work(planned, fast)
    said = ("soft_cap", "window_left", "sm_scale", "causal", "rope_theta")
    assert [fast[name] for name in said] == [planned[name] for name in said]
    assert fast["pages"].data_ptr() == INDICES.data_ptr()


def test_with_graphs_it_plans_to_the_same_place_and_writes_to_no_buffer(
    tensor_cores: Kernel,
) -> None:
    """vLLM and SGLang have copied there before; their replays follow the new list."""
    wrapper, like = graphs(), graphs()
    wrapper.plan(*PAGED)
    first = _call(wrapper, tensor_cores)
    given = wrapper._buffers._given
    for name in BUFFERS:
        given[name].fill_(GARBAGE)
    for pages, last in (([0, 5, 9], [1, 4]), ([0, 0, 0], [0, 0]), ([0, 1000, 2000], [4, 4])):
        plan = (_tensor(*pages), torch.arange(pages[-1]).int(), _tensor(*last), *PAGED[3:])
        fast_decode_plan(wrapper, *plan)
        fast = _call(wrapper, tensor_cores)
        like.plan(*PAGED)
        like.plan(*plan)
        assert _same_work(_call(like, tensor_cores), fast)
        assert fast["items"].data_ptr() == first["items"].data_ptr()
        assert fast["pages"].data_ptr() == given["paged_kv_indices_buffer"].data_ptr()
        assert all(bool((given[name] == GARBAGE).all()) for name in BUFFERS)


def test_engines_find_the_buffer_of_pages(tensor_cores: Kernel) -> None:
    """SGLang writes there before it plans, and passes it on."""
    wrapper = graphs()
    buffer = wrapper._paged_kv_indices_buf
    assert buffer is wrapper._buffers._given["paged_kv_indices_buffer"]
    buffer[:3] = INDICES
    fast_decode_plan(wrapper, PAGES, buffer, *PAGED[2:])
    assert _call(wrapper, tensor_cores)["pages"].data_ptr() == buffer.data_ptr()
    assert decoding()._paged_kv_indices_buf.tolist() == INDICES.tolist()


def test_offsets_on_the_host_are_read_in_place_of_those_on_the_device(
    tensor_cores: Kernel,
) -> None:
    away = torch.empty(3, dtype=torch.int32, device="meta")  # It cannot be read.
    wrapper = decoding()
    longer = torch.cat([PAGES, _tensor(GARBAGE)])
    fast_decode_plan(wrapper, away, *PAGED[1:], global_override_indptr_cpu=longer)
    assert _same_work(_call(wrapper, tensor_cores), _call(decoding(), tensor_cores))


def test_pages_of_one_slot_have_no_last_lengths_to_read(tensor_cores: Kernel) -> None:
    """SGLang's pages: its last lengths are on the device."""
    unread = torch.empty(2, dtype=torch.int32, device="meta")
    wrapper, like = decoding(), decoding()
    fast_decode_plan(wrapper, PAGES, INDICES, unread, HEADS, KV_HEADS, DIM, 1)
    like.plan(PAGES, INDICES, _tensor(1, 1), HEADS, KV_HEADS, DIM, 1)
    small = torch.zeros(10, 2, 1, KV_HEADS, DIM, dtype=torch.float16)
    wrapper.run(q(2), small)
    fast = tensor_cores.call
    like.run(q(2), small)
    assert _same_work(fast, tensor_cores.call)


def test_several_queries_a_request(tensor_cores: Kernel) -> None:
    wrapper = decoding(q_len_per_req=2)
    fast_decode_plan(wrapper, *PAGED, q_len_per_req=2, fixed_split_size=-1)
    fast = _call(wrapper, tensor_cores, 4)
    assert fast["causal"]
    assert _same_work(fast, _call(decoding(q_len_per_req=2), tensor_cores, 4))


def test_dtypes_are_its_own_and_the_output_s_the_last_plan_s(tensor_cores: Kernel) -> None:
    wrapper = decoding(q_data_type="bfloat16", o_data_type="float16")
    fast_decode_plan(wrapper, *PAGED, data_type=torch.bfloat16)
    assert wrapper._attention.work.options.q == torch.bfloat16
    assert wrapper._attention.work.options.kv == torch.bfloat16
    assert wrapper._attention.work.options.o == torch.float16
    fast_decode_plan(wrapper, *PAGED)
    assert wrapper._attention.work.options.q == torch.float16


@pytest.mark.parametrize(
    ("changed", "refusal"),
    [
        (
            {"q_len_per_req": 2},
            r"'q_len_per_req' is 2, and 1 by the first plan\(\) for CUDA graphs",
        ),
        ({"indices": torch.zeros(2001, dtype=torch.int32)}, "'indices' has 2001 elements"),
        (
            {"indptr": _tensor(0, 1), "last_page_len": _tensor(1)},
            "the number of requests is 1, the first",
        ),
        ({"indptr": _tensor(0, 3)}, r"'indptr' has shape \(2,\)|'last_page_len' has shape"),
        ({"window_left": 5}, "window_left is 5, the first"),
        ({"indptr": _tensor(0, 3, 7)}, "'indices' has 3 elements, 'indptr' goes to 7"),
    ],
)
def test_what_a_captured_graph_cannot_follow_is_refused(changed, refusal: str) -> None:
    wrapper = graphs()
    wrapper.plan(*PAGED)
    words = {"indptr": PAGES, "indices": INDICES, "last_page_len": LAST, **changed}
    with pytest.raises(ValueError, match=refusal):
        fast_decode_plan(
            wrapper,
            **words,
            num_qo_heads=HEADS,
            num_kv_heads=KV_HEADS,
            head_dim=DIM,
            page_size=PAGE,
        )
