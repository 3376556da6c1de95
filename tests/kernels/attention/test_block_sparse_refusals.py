"""Block-sparse attention refuses in words what does not fit: at once, or once the GPU has found it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from fictl.kernels.attention.block_sparse.op import (
    BlockSparseAttentionWrapper,
    VariableBlockSparseAttentionWrapper,
)

from .reference import workspace
from .test_block_sparse import BF16, DIM, Mask, ints


def _mask_with(device: str, **changed: torch.Tensor) -> Callable[[], Any]:
    mask = Mask(8, device)
    names = ("block_mask_map", "block_row_sz", "block_col_sz")
    tensors = {**dict(zip(names, mask.drawn, strict=True)), **changed}
    wrapper = VariableBlockSparseAttentionWrapper(workspace(device))
    on_device = {name: x.to(device) for name, x in tensors.items()}
    wrapper.plan(**on_device, num_qo_heads=4, num_kv_heads=2, head_dim=DIM, q_data_type=BF16)
    return lambda: wrapper.run(*mask.poisoned())


def _changed(sizes: torch.Tensor, *at: int, to: int) -> torch.Tensor:
    other = sizes.clone()
    other[at] = to
    return other


@pytest.mark.parametrize(
    ("name", "index", "value", "message"),
    [
        ("block_row_sz", (1, 2), -3, r"'block_row_sz' is -3 at head 1, block 2; sizes are 0"),
        ("block_col_sz", (0, 9), -1, r"'block_col_sz' is -1 at head 0, block 9; sizes are 0"),
        ("block_row_sz", (1, 4), 500, r"'block_row_sz' adds up to \d+ at head 1, where q has 90"),
        ("block_col_sz", (0, 0), 151, r"'block_col_sz' adds up to \d+ at head 0, where k has 150"),
        ("block_col_sz", (1, 3), 2**31 - 5, r"of head 1 go to token \d+ at block 3"),
    ],
)
def test_sizes_that_make_no_sense_are_raised_later(
    name: str, index: tuple[int, ...], value: int, message: str, device: str
) -> None:
    """Nothing out of bounds is read before: the emulated device would say so."""
    at = {"block_row_sz": 1, "block_col_sz": 2}[name]
    sizes = _changed(Mask(8, device).drawn[at], *index, to=value)
    run = _mask_with(device, **{name: sizes})
    with pytest.raises(ValueError, match=message):
        for _ in range(2):
            run()
            _wait(device)


def test_inputs_are_validated_at_once_where_it_is_asked_for(
    device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FICTL_VALIDATE_INPUTS", "1")
    with pytest.raises(ValueError, match=r"'block_row_sz' is -1 at head 0, block 1"):
        _mask_with(device, block_row_sz=_changed(Mask(8, device).drawn[1], 0, 1, to=-1))
    with pytest.raises(ValueError, match=r"'indices' is 4 at 1, of row 0; there are 4 blocks"):
        _planned_rows(device, indices=ints(0, 4, 1))


def _planned_rows(device: str, **changed: Any) -> BlockSparseAttentionWrapper:
    options = {
        "indptr": ints(0, 2, 3),
        "indices": ints(0, 3, 1),
        "M": 8,
        "N": 16,
        "R": 4,
        "C": 4,
        "num_qo_heads": 4,
        "num_kv_heads": 2,
        "head_dim": DIM,
        "q_data_type": BF16,
        "o_data_type": BF16,
        **changed,
    }
    wrapper = BlockSparseAttentionWrapper(workspace(device))
    tensors = {n: x.to(device) for n, x in options.items() if isinstance(x, torch.Tensor)}
    wrapper.plan(**{**options, **tensors})
    return wrapper


def _wait(device: str) -> None:
    if device == "cuda":
        torch.cuda.synchronize()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"indices": ints(0, -1, 1)}, "'indices' is -1 at 1, of row 0; there are 4 blocks"),
        ({"indptr": ints(0, 3, 2)}, "'indptr' goes from 3 to 2 at row 1; it starts at 0"),
        ({"indptr": ints(0, 2, 9)}, "'indptr' goes from 2 to 9 at row 1; .* within the 3"),
        ({"indptr": ints(-1, 2, 3)}, "'indptr' goes from -1 to 2 at row 0"),
    ],
)
def test_rows_that_make_no_sense_are_raised_later(
    changed: dict[str, Any], message: str, device: str
) -> None:
    wrapper = _planned_rows(device, **changed)
    _wait(device)
    q, k = (torch.zeros(n, h, DIM, dtype=BF16, device=device) for n, h in ((8, 4), (16, 2)))
    with pytest.raises(ValueError, match=message):
        wrapper.run(q, k, k)


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"M": 9}, ValueError, "'M' and 'R' are 9 and 4; .* divides the first"),
        ({"N": 18}, ValueError, "'N' and 'C' are 18 and 4"),
        ({"R": 0}, ValueError, "'M' and 'R' are 8 and 0; the second is at least 1"),
        ({"indptr": ints(0, 3)}, ValueError, r"'indptr' has shape \(2,\); here it is \(3,\)"),
        ({"indices": torch.zeros(3)}, TypeError, "'indices' is of torch.float32; .* int32"),
        (
            {"mask": torch.ones(3, 4, 5, dtype=torch.bool)},
            ValueError,
            r"'mask' has shape \(3, 4, 5\); here it is \(3, 4, 4\)",
        ),
        ({"mask": torch.ones(3, 4, 4)}, TypeError, "'mask' is of torch.float32; pass .* bool"),
        (
            {"packed_mask": torch.ones(5, dtype=torch.uint8)},
            ValueError,
            "'packed_mask' has 5 elements of torch.uint8; 3 blocks of 4 x 4 take 6",
        ),
        ({"pos_encoding_mode": "ROPE_LLAMA"}, NotImplementedError, "'ROPE_LLAMA'; keys of blocks"),
        ({"q2k_num": ints(1)}, NotImplementedError, "'q2k_num' is given"),
        ({"num_kv_heads": 3}, ValueError, "4 heads of queries to 3 of keys"),
    ],
)
def test_plans_of_a_matrix_are_refused_in_words(
    changed: dict[str, Any], error: type[Exception], message: str, device: str
) -> None:
    with pytest.raises(error, match=message):
        _planned_rows(device, **changed)


@pytest.mark.parametrize(
    ("name", "value", "error", "message"),
    [
        ("block_mask_map", torch.ones(3, 5, 40), ValueError, r"\(3, 5, 40\); it is \(2 heads of"),
        ("block_mask_map", torch.ones(2, 5, 40), TypeError, "of torch.float32; .* of bool"),
        ("block_row_sz", ints(1, 2), ValueError, r"'block_row_sz' has shape \(2,\); .* \(2, 5\)"),
        ("block_col_sz", torch.ones(2, 40), TypeError, "'block_col_sz' is of torch.float32"),
    ],
)
def test_plans_of_a_mask_are_refused_in_words(
    name: str, value: torch.Tensor, error: type[Exception], message: str, device: str
) -> None:
    with pytest.raises(error, match=message):
        _mask_with(device, **{name: value})


def test_tensors_are_what_was_planned(device: str) -> None:
    mask = Mask(9, device)
    wrapper = mask.planned()
    q, k, v = mask.poisoned()
    with pytest.raises(ValueError, match=r"'v' has shape \(2, 149, 64\), plan\(\) was told"):
        wrapper.run(q, k, v[:, 1:])
    with pytest.raises(ValueError, match=r"'q' has dtype torch.float16, plan"):
        wrapper.run(q.half(), k, v)
    with pytest.raises(ValueError, match=r"'out' has shape .* and dtype torch.float16"):
        wrapper.run(q, k, v, out=torch.empty_like(q, dtype=torch.float16))
    with pytest.raises(RuntimeError, match=r"run\(\) was called before plan\(\)"):
        VariableBlockSparseAttentionWrapper(workspace(device)).run(q, k, v)
