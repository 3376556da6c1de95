"""Names of kernels as NVIDIA's tools spell them."""

from __future__ import annotations

import pytest

from fictl.profile.spelling import respelt


@pytest.mark.parametrize(
    ("kernel", "name"),
    [
        ("void a::K<float, (int)8, (bool)0, (int)-1>(float *)", "a::K<float, 8, 0, -1>"),
        ("void a::K<(unsigned int)8>(T1 *, int)", "a::K<8>"),
        ("K(int, float)", "K"),
        ("(anonymous namespace)::K(float *)", "(anonymous namespace)::K"),
    ],
)
def test_casts_result_and_parameters_are_left_out(kernel: str, name: str) -> None:
    assert respelt(kernel) == name
