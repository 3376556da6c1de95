"""What wrappers make of their arguments; what comes out of their kernels is tested beside."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from fictl.kernels.attention.decode import op as decode
from fictl.kernels.attention.prefill import op as prefill
from fictl.kernels.attention.single import op as single

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
    decoding,
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


def test_defaults_are_flashinfers(tensor_cores: Kernel) -> None:
    out = ragged().run(q(), kv(), kv())
    assert out.shape == (5, HEADS, DIM)
    call = tensor_cores.call
    assert call["sm_scale"] == DIM**-0.5
    said = ("lse", "pages", "mask", "slopes", "sinks", "soft_cap", "window_left", "causal")
    assert [call[name] for name in said] == [None] * 5 + [0.0, -1, False]
    assert (call["rope_scale"], call["rope_theta"], call["enable_pdl"]) == (1.0, 1e4, True)


def test_what_is_said_reaches_the_kernel(tensor_cores: Kernel) -> None:
    made = paged(
        causal=True,
        window_left=3,
        logits_soft_cap=30.0,
        sm_scale=0.5,
        rope_theta=2.0,
        pos_encoding_mode="ALIBI",
    )
    sinks = torch.ones(HEADS, dtype=torch.float64)
    out, lse = made.run(
        q(),
        cache(),
        q_scale=2.0,
        k_scale=torch.tensor([3.0]),
        v_scale=torch.tensor(0.25),
        sinks=sinks,
        enable_pdl=False,
        return_lse=True,
    )
    call = tensor_cores.call
    said = ("sm_scale", "v_scale", "soft_cap", "window_left", "causal", "rope_theta", "enable_pdl")
    assert [call[name] for name in said] == [3.0, 0.25, 30.0, 3, True, 2.0, False]
    assert call["sinks"].dtype is torch.float32
    assert call["slopes"].tolist() == [2.0 ** -(i + 1) for i in range(HEADS)]
    assert (call["out"] is out, call["lse"] is lse, call["pages"] is INDICES) == (True, True, True)
    config = tensor_cores.configs[-1]
    assert (config.soft_cap, config.alibi, config.rope, config.paged) == (True, True, False, True)


def test_slopes_of_heads_beyond_a_power_of_two_are_between(tensor_cores: Kernel) -> None:
    made = prefill.BatchPrefillWithRaggedKVCacheWrapper(workspace())
    made.plan(QO, KV, 6, KV_HEADS, DIM, pos_encoding_mode="ALIBI")
    made.run(q(heads=6), kv(), kv())
    expected = [2**-2, 2**-4, 2**-6, 2**-8, 2**-1, 2**-3]
    assert tensor_cores.call["slopes"].tolist() == pytest.approx(expected)


def test_a_layout_says_where_heads_are(tensor_cores: Kernel) -> None:
    made = prefill.BatchPrefillWithPagedKVCacheWrapper(workspace(), "HND")
    made.plan(QO, *PAGED)
    cache = torch.zeros(10, 2, KV_HEADS, PAGE, DIM, dtype=torch.float16)
    made.run(q(), cache)
    call = tensor_cores.call
    assert (call["hnd"], call["page_size"]) == (True, PAGE)
    assert call["v"].data_ptr() == cache[:, 1].data_ptr()
    made.run(q(), (cache[:, 0], cache[:, 1]))
    assert tensor_cores.call["k"].stride() == call["k"].stride()


def test_pages_of_one_slot_do_without_that_dimension(tensor_cores: Kernel) -> None:
    made = prefill.BatchPrefillWithPagedKVCacheWrapper(workspace())
    ones = torch.tensor([1, 1], dtype=torch.int32)
    made.plan(QO, PAGES, INDICES, ones, HEADS, KV_HEADS, DIM, 1)
    made.run(q(), torch.zeros(10, 2, KV_HEADS, DIM, dtype=torch.float16))
    assert tensor_cores.call["k"].shape == (10, 1, KV_HEADS, DIM)


@pytest.mark.parametrize(
    ("heads", "options", "expected"),
    [
        (2, {}, (True, 16, "fa2")),
        (8, {}, (True, 16, "fa2")),
        (64, {}, (True, 64, "fa2")),
        (192, {}, (True, 128, "fa3")),  # rows of 4 slots a page are copied one by one
        (2, {"backend": "fa2"}, (False, 1, "fa2")),
        (6, {"backend": "fa2"}, (False, 3, "fa2")),
        (8, {"backend": "fa2"}, (True, 16, "fa2")),
        (192, {"backend": "fa2"}, (True, 128, "fa2")),
        (2, {"backend": "fa2", "use_tensor_cores": True}, (True, 16, "fa2")),
        (2, {"backend": "fa3"}, (True, 16, "fa3")),
        (8, {"backend": "fa3", "use_tensor_cores": True}, (True, 16, "fa3")),
    ],
)
def test_decoding_is_on_tensor_cores_unless_others_are_asked_for(
    heads: int,
    options: dict[str, Any],
    expected: tuple[bool, int, str],
    tensor_cores: Kernel,
    cuda_cores: Kernel,
) -> None:
    made = decode.BatchDecodeWithPagedKVCacheWrapper(workspace(), **options)
    made.plan(PAGES, INDICES, LAST, heads, KV_HEADS, DIM, PAGE)
    made.run(q(2, heads), cache())
    used, rows, word = expected
    assert (made.use_tensor_cores, made.resolved_backend) == (used, word)
    kernel = tensor_cores if used else cuda_cores
    assert (len(kernel.calls), kernel.configs[-1].rows) == (1, rows)


def test_a_single_query_is_decoded_likewise(tensor_cores: Kernel, cuda_cores: Kernel) -> None:
    q = torch.zeros(HEADS, DIM, dtype=torch.float16)
    out, lse = single.single_decode_with_kv_cache(q, kv(), kv(), return_lse=True)
    assert (out.shape, lse.shape) == ((HEADS, DIM), (HEADS,))
    assert (len(tensor_cores.calls), len(cuda_cores.calls)) == (1, 0)
    assert tensor_cores.call["list"].numel() == tensor_cores.call["items"].numel()
    given, sums = torch.empty_like(q), torch.empty(HEADS)
    found = single.single_decode_with_kv_cache(q, kv(), kv(), return_lse=True, out=given, lse=sums)
    assert (found[0] is given, found[1] is sums) == (True, True)


def test_several_queries_a_request_are_causal_and_on_tensor_cores(tensor_cores: Kernel) -> None:
    made = decode.BatchDecodeWithPagedKVCacheWrapper(workspace())
    made.plan(PAGES, INDICES, LAST, 2, KV_HEADS, DIM, PAGE, q_len_per_req=3)
    made.run(q(6, 2), cache())
    assert tensor_cores.call["causal"]
    assert [item[3] for item in tensor_cores.call["items"].tolist()] == [3, 3]
    with pytest.raises(ValueError, match=r"'q_len_per_req' is 2, plan\(\) was told 3"):
        made.run(q(6, 2), cache(), q_len_per_req=2)


def test_a_mask_is_packed_from_a_byte_on_for_each_request(
    tensor_cores: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def packed(bits: torch.Tensor, indptr: torch.Tensor, bitorder: str, out: torch.Tensor) -> None:
        assert (indptr.tolist(), bitorder, len(bits)) == ([0, 6, 21], "little", 21)
        out.copy_(torch.arange(3))

    made = prefill.BatchPrefillWithPagedKVCacheWrapper(workspace())
    monkeypatch.setattr(made, "segment_packbits", packed)
    made.plan(QO, *PAGED, custom_mask=torch.ones(21, dtype=torch.bool), causal=True)
    made.run(q(), cache())
    call = tensor_cores.call
    assert (call["mask"].tolist(), call["causal"]) == ([0, 1, 2], False)
    assert sorted(item[9] for item in call["items"].tolist()) == [0, 1]
    assert tensor_cores.configs[-1].custom_mask
    bits = torch.zeros(9, dtype=torch.uint8)
    made.plan(QO, *PAGED, packed_custom_mask=bits)
    made.run(q(), cache())
    assert tensor_cores.call["mask"].data_ptr() == bits.data_ptr()
    made.plan(QO, *PAGED)
    made.run(q(), cache())
    assert tensor_cores.call["mask"] is None


def test_lse_comes_in_the_base_and_layout_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    made = ragged()

    def attend(*arguments: Any) -> None:
        arguments[2].copy_(torch.arange(5)[:, None].expand(5, HEADS))

    monkeypatch.setattr(made._attention._kernel, "attend", attend)
    rows = torch.arange(5.0)[:, None].expand(5, HEADS)
    log2 = made.run_return_lse(q(), kv(), kv())[1]
    torch.testing.assert_close(log2, rows)
    given = torch.empty(HEADS, 5)
    ln = made.run_return_lse(q(), kv(), kv(), lse=given, lse_base="ln", lse_layout="HN")[1]
    assert ln is given
    torch.testing.assert_close(ln, rows.t() * torch.tensor(2.0).log())


def test_forward_says_again_what_plan_said(tensor_cores: Kernel) -> None:
    made = ragged(causal=True)
    made.forward(q(), kv(), kv(), causal=False, logits_soft_cap=5.0)
    call = tensor_cores.call
    assert (call["causal"], call["soft_cap"]) == (False, 5.0)
    assert sorted(item[7] for item in call["items"].tolist()) == [3, 4]
    made = decoding()
    made.forward_return_lse(q(2), cache(), window_left=1, q_scale=2.0)
    assert (tensor_cores.call["window_left"], tensor_cores.call["sm_scale"]) == (1, 0.25)
    made.end_forward()


def test_partial_results_are_in_the_workspace(tensor_cores: Kernel) -> None:
    memory = workspace(1 << 20)
    made = decode.BatchDecodeWithPagedKVCacheWrapper(memory)
    table = (torch.tensor([0, 500]).int(), ints(500), torch.tensor([4]).int())
    long = (*table, HEADS, KV_HEADS, DIM, PAGE)
    floats, numbers = made.workspace_size(*long)
    made.plan(*long)
    made.run(q(1), cache())
    call = tensor_cores.call
    assert call["workspace_out"].data_ptr() == memory.data_ptr()
    assert 4 * (call["workspace_out"].numel() + call["workspace_lse"].numel()) == floats
    assert call["items"].nbytes + call["merges"].nbytes == numbers
    said = rf"'float_workspace_buffer' has {floats - 4} bytes; .* take {floats}"
    with pytest.raises(ValueError, match=said):
        decode.BatchDecodeWithPagedKVCacheWrapper(memory[: floats - 4]).plan(*long)
    given = workspace(numbers)
    made.reset_workspace_buffer(memory[:floats], given)
    made.plan(*long)
    made.run(q(1), cache())
    assert tensor_cores.call["items"].data_ptr() == given.data_ptr()
    made.reset_workspace_buffer(memory, given[: numbers - 16])
    said = rf"'int_workspace_buffer' has {numbers - 16} bytes; .* {numbers}"
    with pytest.raises(ValueError, match=said):
        made.plan(*long)


def test_without_parts_no_workspace_is_needed() -> None:
    made = decode.BatchDecodeWithPagedKVCacheWrapper(workspace(0))
    made.plan(*PAGED)
    made.run(q(2), cache())


@pytest.mark.parametrize("backend", ["auto", "fa2"])
def test_plans_for_graphs_go_to_one_place(
    backend: str, tensor_cores: Kernel, cuda_cores: Kernel
) -> None:
    made, places = graphs(backend=backend), set()
    for pages, last in (([0, 1, 3], [3, 1]), ([0, 1000, 2000], [4, 4]), ([0, 0, 0], [0, 0])):
        indptr, lasts = (torch.tensor(each, dtype=torch.int32) for each in (pages, last))
        indices = torch.arange(pages[-1], dtype=torch.int32)
        made.plan(indptr, indices, lasts, 6, KV_HEADS, DIM, PAGE)
        made.run(q(2, 6), cache())
        call = (cuda_cores if backend == "fa2" else tensor_cores).call
        read = ("items", "merges", "workspace_out", "workspace_lse", "pages")
        places.add(tuple((call[name].data_ptr(), call[name].shape) for name in read))
        assert torch.equal(call["pages"][: pages[-1]], indices)
        assert made._buffers._given["paged_kv_indptr_buffer"].tolist() == pages
    assert len(places) == 1
    assert made.is_cuda_graph_enabled


def test_prefill_for_graphs_keeps_its_kernel_and_has_room_for_fewer_queries(
    tensor_cores: Kernel,
) -> None:
    made = prefill_graphs()
    keys = (torch.tensor([0, 40, 80]).int(), ints(80), torch.tensor([4, 4]).int())
    for queries in ([0, 100, 200], [0, 0, 200], [0, 1, 2]):
        made.plan(torch.tensor(queries).int(), *keys, HEADS, KV_HEADS, DIM, PAGE, causal=True)
        made.run(q(queries[-1]), cache())
        assert tensor_cores.configs[-1] == tensor_cores.configs[0]
        assert tensor_cores.configs[-1].rows >= 128
        assert tensor_cores.call["items"].shape == tensor_cores.calls[0]["items"].shape
    with pytest.raises(ValueError, match=r"'qo_indptr' has 201 queries; the first .* had 200"):
        made.plan(torch.tensor([0, 1, 201]).int(), *keys, HEADS, KV_HEADS, DIM, PAGE, causal=True)


def test_a_batch_without_requests_or_queries_is_one(tensor_cores: Kernel) -> None:
    made = prefill.BatchPrefillWithRaggedKVCacheWrapper(workspace(0))
    for starts in ([0], [0, 0, 0]):
        indptr = torch.tensor(starts, dtype=torch.int32)
        made.plan(indptr, indptr, HEADS, KV_HEADS, DIM)
        assert made.run(q(0), kv(0), kv(0)).shape == (0, HEADS, DIM)
        assert tensor_cores.call["items"].shape == (0, 12)


def test_older_dtypes_of_decoding_stand_for_both(tensor_cores: Kernel) -> None:
    decoding(data_type="bfloat16")
    assert tensor_cores.configs[-1].q is tensor_cores.configs[-1].kv is torch.bfloat16
    decoding(data_type=torch.float8_e5m2)
    assert tensor_cores.configs[-1].q is torch.float16
    assert tensor_cores.configs[-1].kv is torch.float8_e5m2


def test_a_plan_says_which_kernel_it_chose(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("FICTL_ATTENTION_VERBOSE", "1")
    decoding()
    (said,) = caplog.messages
    assert said.startswith(
        "BatchDecodeWithPagedKVCacheWrapper: tensor cores (faster for any number of heads); "
    )
    monkeypatch.setenv("FICTL_ATTENTION_VERBOSE", "maybe")
    with pytest.raises(
        ValueError, match=r"FICTL_ATTENTION_VERBOSE='maybe': expected one of 1, true"
    ):
        decoding()


def test_page_tables_are_looked_at_where_that_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    paged().run(q(), cache(5))
    monkeypatch.setenv("FICTL_VALIDATE_INPUTS", "1")
    made = paged()
    made.run(q(), cache(10))
    with pytest.raises(
        ValueError, match=r"page index at 2 is 9, of request 1; the cache has 9 pages"
    ):
        made.run(q(), cache(9))


def test_offsets_may_be_of_64_bits_and_anywhere(tensor_cores: Kernel) -> None:
    strided = torch.stack([KV, KV], 1)[:, 0]
    made = prefill.BatchPrefillWithRaggedKVCacheWrapper(workspace())
    made.plan(QO.long(), strided, HEADS, KV_HEADS, DIM)
    made.run(q(), kv(), kv())
    assert sorted(item[5] for item in tensor_cores.call["items"].tolist()) == [3, 4]


def test_heads_of_values_have_a_size_of_their_own(tensor_cores: Kernel) -> None:
    made = prefill.BatchPrefillWithRaggedKVCacheWrapper(workspace())
    made.plan(QO, KV, HEADS, KV_HEADS, 192, 128)
    wide = [x.repeat(1, 1, 3) for x in (q(), kv())]
    out = made.run(*wide, kv().repeat(1, 1, 2))
    assert (out.shape, tensor_cores.call["out"].shape) == ((5, HEADS, 128),) * 2
    config = tensor_cores.configs[-1]
    assert (config.head_dim, config.head_dim_v) == (192, 128)
    assert tensor_cores.call["sm_scale"] == pytest.approx(192**-0.5)
    assert made.forward(*wide, kv().repeat(1, 1, 2)).shape == out.shape


def test_parts_take_room_by_heads_of_values(tensor_cores: Kernel) -> None:
    sizes = {}
    for dim_v in (64, 128):
        made = decode.BatchDecodeWithPagedKVCacheWrapper(workspace())
        table = (torch.tensor([0, 250]), torch.arange(250), torch.tensor([4]))
        floats, _ = made.workspace_size(*table, 2, 2, 64, PAGE, head_dim_vo=dim_v)
        sizes[dim_v] = floats
    assert sizes[64] % 65 == 0
    assert sizes[128] == sizes[64] // 65 * 129 > 0


def test_heads_that_cuda_cores_lack_are_left_to_tensor_cores(
    tensor_cores: Kernel, cuda_cores: Kernel
) -> None:
    made = decode.BatchDecodeWithPagedKVCacheWrapper(workspace(), backend="fa2")
    made.plan(PAGES, INDICES, LAST, 2, KV_HEADS, 512, PAGE)
    assert made.use_tensor_cores
    made.plan(PAGES, INDICES, LAST, 2, KV_HEADS, 80, PAGE)
    assert not made.use_tensor_cores
