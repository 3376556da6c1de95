from __future__ import annotations

import pytest
import torch

from fictl.case.copies import bytes_of, copied, poisoned_like

BASE = torch.arange(64.0)


@pytest.mark.parametrize(
    "tensor",
    [
        BASE,
        BASE.view(8, 8).t(),
        BASE[3:60:7],
        BASE.view(8, 8)[1:, 2:5],
        torch.tensor(3.0),
        torch.empty(0, 4),
        BASE[:1].expand(5, 4),
        BASE.view(4, 16)[:, :8].half(),
    ],
    ids=lambda tensor: f"{tuple(tensor.shape)}-{tensor.stride()}",
)
def test_a_copy_has_the_values_the_strides_and_the_alignment(tensor: torch.Tensor) -> None:
    copy = copied({"x": tensor})["x"]
    assert torch.equal(copy, tensor)
    assert (copy.stride(), copy.dtype) == (tensor.stride(), tensor.dtype)
    if tensor.numel():
        assert copy.data_ptr() != tensor.data_ptr()
        assert (copy.data_ptr() - tensor.data_ptr()) % 64 == 0


def test_two_names_of_a_tensor_stay_one() -> None:
    copy = copied({"input": BASE, "out": BASE, "pages": [BASE, BASE[:3]], "eps": 1e-6})
    assert copy["out"] is copy["input"] is copy["pages"][0]
    assert copy["eps"] == 1e-6


def test_what_nobody_writes_is_no_number() -> None:
    view = BASE.view(8, 8)[:, :3]
    assert bool(poisoned_like(view).isnan().all())
    assert poisoned_like(torch.zeros(2, dtype=torch.int32)).tolist() == [-1, -1]


def test_bytes_are_those_of_each_tensor_once() -> None:
    assert bytes_of({"input": BASE, "out": BASE, "lists": [BASE[:2]], "n": 3}) == 64 * 4 + 8
