"""SGLang's fast_prefill_plan on a paged wrapper: drafts are replayed without a read of the device."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from fictl.kernels.attention.prefill.op import BatchPrefillWithPagedKVCacheWrapper

from .recorded import DIM, HEADS, INDICES, KV_HEADS, PAGE, Kernel, ints, prefill_graphs
from .recorded import cache as unused_cache
from .recorded import q as unused_q
from .reference import Batch, Shape, assert_attends, workspace
from .unread import unread

SIZES = (HEADS, KV_HEADS, DIM, PAGE)
TOKENS = 300
REQUESTS, DRAFTS, SLOTS = 3, 2, 64
SHAPE = Shape(64, page_size=1)


def _host(*values: int) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.int32)


def _replan(
    wrapper: Any,
    qo: torch.Tensor,
    kv: torch.Tensor,
    lens: torch.Tensor,
    pages: torch.Tensor | None = None,
    sizes: tuple[int, ...] = SIZES,
    window_left: int = -1,
) -> Any:
    """Plan as SGLang does: copies to the buffers, then the planner by its private name."""
    assert wrapper.is_cuda_graph_enabled
    assert wrapper._backend == "fa2"
    if wrapper._max_total_num_rows is None:
        wrapper._max_total_num_rows = int(qo[-1])
    wrapper._qo_indptr_buf.copy_(qo, non_blocking=True)
    wrapper._paged_kv_indptr_buf.copy_(kv, non_blocking=True)
    wrapper._paged_kv_last_page_len_buf.copy_(torch.ones_like(lens), non_blocking=True)
    if pages is not None:
        wrapper._paged_kv_indices_buf[: len(pages)].copy_(pages, non_blocking=True)
    heads, kv_heads, dim, page_size = sizes
    wrapper._plan_info = wrapper._cached_module.plan(
        wrapper._float_workspace_buffer,
        wrapper._int_workspace_buffer,
        wrapper._pin_memory_int_workspace_buffer,
        qo,
        kv,
        lens,
        wrapper._max_total_num_rows,
        len(lens),
        heads,
        kv_heads,
        page_size,
        wrapper.is_cuda_graph_enabled,
        dim,
        dim,
        False,
        window_left,
        -1,
        False,
        0,
        0,
    )
    return wrapper


def _planned(**options: Any) -> Any:
    wrapper = prefill_graphs(backend="fa2")
    assert wrapper._cached_module is None
    wrapper.plan(_host(0, 2, 4), _host(0, 1, 3), INDICES, _host(3, 1), *SIZES, **options)
    return wrapper


def test_it_plans_what_plan_does_and_writes_to_no_buffer(tensor_cores: Kernel) -> None:
    wrapper, like = _planned(), _planned()
    wrapper._paged_kv_indices_buf.fill_(77)
    lens = _host(3 * PAGE, 9)
    with unread(wrapper._paged_kv_indices_buf):
        _replan(wrapper, _host(0, 2, 4), _host(0, 3, 6), lens)
    assert bool((wrapper._paged_kv_indices_buf == 77).all())
    like.plan(_host(0, 2, 4), _host(0, 3, 6), ints(6), _host(PAGE, 1), *SIZES)
    calls = []
    for each in (wrapper, like):
        each.run(unused_q(4), unused_cache())
        calls.append(tensor_cores.call)
    assert torch.equal(calls[0]["items"], calls[1]["items"])
    assert torch.equal(calls[0]["merges"], calls[1]["merges"])
    assert calls[0]["pages"].data_ptr() == wrapper._paged_kv_indices_buf.data_ptr()


def test_options_of_a_layer_do_not_touch_the_list_of_a_graph(tensor_cores: Kernel) -> None:
    """Under capture a list that is copied would come back with each replay."""
    wrapper = _planned()
    wrapper.run(unused_q(4), unused_cache())
    items = tensor_cores.call["items"].clone()
    wrapper.forward(
        unused_q(4), unused_cache(), causal=True, logits_soft_cap=30.0, sm_scale=0.5, window_left=3
    )
    call = tensor_cores.call
    assert (call["causal"], call["window_left"], call["soft_cap"]) == (True, 3, 30.0)
    assert call["sm_scale"] == 0.5
    assert tensor_cores.configs[-1].soft_cap
    assert torch.equal(call["items"], items)
    # The next replay's plan is of the first options again, as is the kernel that it is held to.
    _replan(wrapper, _host(0, 2, 4), _host(0, 2, 3), _host(5, 1))
    assert not wrapper._causal


@pytest.mark.parametrize(
    ("planned", "asked", "refusal"),
    [
        ({"causal": True}, {"causal": False}, r"'causal' is False, plan\(\) was told True"),
        ({"window_left": 4}, {"window_left": 5}, r"'window_left' is 5, plan\(\) was told 4"),
        ({"window_left": 4}, {}, r"'window_left' is -1, plan\(\) was told 4"),
    ],
)
def test_options_that_see_more_than_the_list_has_are_refused(
    planned: dict[str, Any], asked: dict[str, Any], refusal: str, tensor_cores: Kernel
) -> None:
    wrapper = _planned(**planned)
    with pytest.raises(ValueError, match=refusal):
        wrapper.forward(unused_q(4), unused_cache(), **asked)


@pytest.mark.parametrize(
    ("changed", "refusal"),
    [
        ({"sizes": (HEADS, HEADS, DIM, PAGE)}, r"plan\(\) was told \(8, 2, 64, 64\)"),
        ({"lens": _host(5000, 5000)}, "'paged_kv_indices_buf' has 2000 elements"),
        ({"window_left": 7}, "window_left is 7, the first"),
        ({"qo": _host(0, 2, 40)}, "queries"),
    ],
)
def test_what_a_captured_graph_cannot_follow_is_refused(
    changed: dict[str, Any], refusal: str, tensor_cores: Kernel
) -> None:
    words = {"qo": _host(0, 2, 4), "kv": _host(0, 1, 3), "lens": _host(3, 5), **changed}
    if "lens" in changed:
        words["kv"] = _host(0, 1250, 2500)
    with pytest.raises(ValueError, match=refusal):
        _replan(_planned(), **words)


def _wrapper(device: str, masked: bool) -> Any:
    def numbers(count: int) -> torch.Tensor:
        return torch.zeros(count, dtype=torch.int32, device=device)

    masks: dict[str, Any] = {}
    if masked:
        masks["custom_mask_buf"] = torch.zeros(4096, dtype=torch.uint8, device=device)
        masks["mask_indptr_buf"] = numbers(REQUESTS + 1)
    return BatchPrefillWithPagedKVCacheWrapper(
        workspace(device),
        use_cuda_graph=True,
        backend="fa2",
        qo_indptr_buf=numbers(REQUESTS + 1),
        paged_kv_indptr_buf=numbers(REQUESTS + 1),
        paged_kv_indices_buf=numbers(TOKENS),
        paged_kv_last_page_len_buf=numbers(REQUESTS),
        **masks,
    )


@pytest.mark.parametrize("masked", [False, True])
def test_replays_of_drafts_follow_their_lengths(device: str, masked: bool) -> None:
    """Capture's plan is not causal, and its layers are; masks are packed where the graph reads them."""
    wrapper = _wrapper(device, masked)
    qo = _host(0, *range(DRAFTS, REQUESTS * DRAFTS + 1, DRAFTS))
    sizes = (SHAPE.heads, SHAPE.kv_heads, SHAPE.dim, 1)
    for seed, lens in enumerate(([5, 2, 30], [70, 2, 131], [2, 2, 2])):
        batch = Batch([DRAFTS] * REQUESTS, lens, SHAPE, device, seed)
        kv, pages, last = batch.page_table()
        generator = torch.Generator().manual_seed(seed)
        masks = [torch.rand(DRAFTS, n, generator=generator) < 0.7 for n in lens]
        for mask in masks:
            mask[:, 0] = True
        bits = torch.cat([_packed(mask) for mask in masks]).to(device)
        if seed == 0:
            given = {"packed_custom_mask": bits} if masked else {}
            wrapper.plan(qo, kv, pages, last, *sizes, q_data_type=SHAPE.dtype, **given)
        else:
            if masked:
                wrapper._mask_indptr_buf.copy_(_ends([(DRAFTS * n + 7) // 8 for n in lens]))
                wrapper._custom_mask_buf[: len(bits)].copy_(bits)
            _replan(wrapper, qo, kv, _host(*lens), pages, sizes)
        out, lse = wrapper.forward_return_lse(batch.q, batch.cache(), causal=not masked)
        expected = batch.expected(masks) if masked else batch.expected(causal=True)
        assert_attends((out, lse), expected, lens)


def _packed(mask: torch.Tensor) -> torch.Tensor:
    bits = torch.zeros(-(-mask.numel() // 8) * 8, dtype=torch.int32)
    bits[: mask.numel()] = mask.flatten()
    return (bits.view(-1, 8) << torch.arange(8)).sum(1).to(torch.uint8)


def _ends(sizes: list[int]) -> torch.Tensor:
    return torch.tensor([0, *torch.tensor(sizes).cumsum(0).tolist()], dtype=torch.int32)
