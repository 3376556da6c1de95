"""Memory that two processes share: what one may do to it, and what not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch

from fictl.judge.exchange import memory
from fictl.judge.exchange.layout import ExchangeLayout
from tests.judge.judge_runs import definition

SIZE = 3 * 4096


def test_what_one_side_writes_the_other_reads() -> None:
    ours, handle = memory.create(SIZE, "cpu")
    theirs = memory.adopt(os.dup(handle), SIZE, "cpu")
    ours.bytes_at(4096, 8).fill_(7)
    assert theirs.bytes_at(4096, 8).tolist() == [7] * 8
    os.close(handle)


@pytest.mark.parametrize("size", [0, 4096, 2 * SIZE])
def test_nobody_changes_its_size(size: int) -> None:
    _, handle = memory.create(SIZE, "cpu")
    with pytest.raises(PermissionError):
        os.ftruncate(handle, size)
    os.close(handle)


def test_a_handle_that_is_adopted_is_closed() -> None:
    _, handle = memory.create(SIZE, "cpu")
    before = len([*Path("/proc/self/fd").iterdir()])
    kept = memory.adopt(os.dup(handle), SIZE, "cpu")
    del kept
    assert len([*Path("/proc/self/fd").iterdir()]) == before
    os.close(handle)


def test_tensors_keep_their_memory() -> None:
    made, handle = memory.create(SIZE, "cpu")
    tensor = made.bytes_at(0, 16)
    del made
    os.close(handle)
    assert tensor.fill_(3).tolist() == [3] * 16


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float8_e4m3fn", "int64", "bool"])
def test_each_tensor_has_a_storage_of_its_own(dtype: str) -> None:
    x = torch.arange(5 * 64).reshape(5, 64).to(getattr(torch, dtype))
    layout = ExchangeLayout.of({"x": x, "s": 2.5}, definition(), {"m": 5})
    assert ExchangeLayout.from_dict(layout.to_dict()) == layout
    made, handle = memory.create(layout.size, "cpu")
    os.close(handle)
    views = {part.name: part.view(made) for part in (*layout.inputs, *layout.outputs)}
    views["x"].copy_(x)
    assert [*views] == ["x", "y"]
    assert torch.equal(views["x"].float(), x.float())
    assert views["y"].shape == (5, 64)
    places = {view.untyped_storage().data_ptr() for view in views.values()}
    assert len(places) == 2


def test_a_tensor_without_elements_lies_nowhere() -> None:
    layout = ExchangeLayout.of({"x": torch.empty(0, 64)}, definition(), {"m": 0})
    assert layout.size > 0
    made, handle = memory.create(layout.size, "cpu")
    os.close(handle)
    assert [part.view(made).shape for part in layout.inputs] == [(0, 64)]
