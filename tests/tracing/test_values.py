"""Values of calls: which are stored, and the lengths that they hold."""

from __future__ import annotations

import pytest
import torch

from fictl.tracing import TracingConfig
from fictl.tracing.values import lengths_of, snapshot

INPUTS = {
    "q": torch.ones(2),
    "indptr": torch.tensor([0, 3, 5], dtype=torch.int32),
    "mask": torch.ones(2, dtype=torch.uint8),
    "scale": 0.5,
}


@pytest.mark.parametrize(
    ("policy", "names"),
    [
        ("dump_all", ["q", "indptr", "mask"]),
        ("dump_none", []),
        ("dump_integers", ["indptr"]),
        ("dump_int32", ["indptr"]),
        (["mask", "gone"], ["mask"]),
        (lambda inputs: ["q", "gone"], ["q"]),
    ],
)
def test_a_policy_names_inputs(policy: object, names: list[str]) -> None:
    config = TracingConfig(input_dump_policy=policy)  # type: ignore[arg-type]
    assert config.inputs_to_dump(INPUTS) == names


def test_a_snapshot_does_not_change_with_the_tensor() -> None:
    x = torch.ones(4, 2).T
    copies = snapshot({"x": x}, ["x"])
    x.zero_()
    assert copies["x"].is_contiguous()
    assert float(copies["x"].sum()) == 8


@pytest.mark.parametrize(
    ("name", "values", "lengths"),
    [
        ("indptr", [0, 3, 3, 5], (3, 0, 2)),
        ("cu_seqlens", [2, 3, 5], (1, 2)),
        ("kv_len", [7, 2], (7, 2)),
        ("seq_lens", [2], (2,)),
        ("kv_indices", [0, 1, 2], None),
        ("indptr", [0, 4, 2], None),
        ("indptr", [0], None),
        ("kv_len", [], None),
    ],
)
def test_offsets_and_lengths_are_numbers(
    name: str, values: list[int], lengths: tuple[int, ...] | None
) -> None:
    found = lengths_of({name: torch.tensor(values, dtype=torch.int32)})
    assert found == ({name: lengths} if lengths else {})


def test_lengths_are_integers_in_one_dimension() -> None:
    assert lengths_of({"len": torch.ones(3), "lens": torch.zeros(2, 2, dtype=torch.int64)}) == {}
