"""Names of kernels as people read them."""

from __future__ import annotations

import pytest

from fictl.toolchain.kernel_name import readable


@pytest.mark.parametrize(
    ("mangled", "name"),
    [
        ("_Z4foo2i", "foo2"),
        ("_ZN5fictl4norm6KernelIfLi4EEEvPT_i", "fictl::norm::Kernel<float, 4>"),
        ("_ZN12_GLOBAL__N_13fooEi", "(anonymous namespace)::foo"),
        ("triton_poi_fused_0", "triton_poi_fused_0"),
        ("_Znonsense", "_Znonsense"),
        ("memset", "memset"),
    ],
)
def test_readable(mangled, name):
    assert readable(mangled) == name
