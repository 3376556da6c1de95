"""The scale of a whole tensor: of zeros, of numbers so small that it overflows, of none."""

from __future__ import annotations

import pytest
import torch

from fictl.kernels.quantization._global_scale import make_nvfp4_global_scale

LARGEST = torch.finfo(torch.float32).max


@pytest.mark.parametrize(
    ("values", "scale"),
    [
        ([1.0, -4.0], 672.0),
        ([0.0, -0.0], LARGEST),
        ([2.0**-133], LARGEST),
        ([torch.inf], 0.0),
    ],
)
def test_the_largest_value_decides(values: list[float], scale: float, device: str) -> None:
    x = torch.tensor(values, device=device).bfloat16()
    got = make_nvfp4_global_scale(x, False)
    assert (got.dtype, got.shape, got.device) == (torch.float32, (1,), x.device)
    assert got.item() == scale


def test_nan_is_not_hidden() -> None:
    assert make_nvfp4_global_scale(torch.tensor([1.0, torch.nan]), False).isnan()


def test_tokens_of_their_own_scales_and_a_given_one() -> None:
    x = torch.zeros(0)
    assert make_nvfp4_global_scale(x, True, 5.0).item() == pytest.approx(1 / 2688)
    assert make_nvfp4_global_scale(x, False, 5.0).tolist() == [5.0]


def test_no_values_and_other_recipes_are_refused() -> None:
    with pytest.raises(ValueError, match="has no largest value; pass global_scale"):
        make_nvfp4_global_scale(torch.zeros(0, 4), False)
    with pytest.raises(ValueError, match=r"'nvfp4_4over6_config' is .*accepted: None"):
        make_nvfp4_global_scale(torch.ones(1), False, nvfp4_4over6_config=object())
