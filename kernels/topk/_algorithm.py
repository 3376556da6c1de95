"""The algorithm that finds the largest elements, where a setting forces one.

Algorithms are not backends of `@op(backends=…)`. A backend is another kernel module, remembered by
dtypes, devices and Const axes; an algorithm depends on rows, cols and k of each call. The launcher
knows these, and all algorithms are in one module. The setting passes through to it.
"""

from __future__ import annotations

from fictl.op import setting

VARIABLE = "FICTL_TOPK_ALGO"

# As plan.cuh has them, under FlashInfer's names and one that says more.
_NUMBERS = {"": 0, "auto": 0, "filtered": 1, "multi_cta": 2, "radix": 2, "clusters": 3}


def algorithm() -> int:
    """Look up the number that the kernel knows it by; the setting is read at every call."""
    value = setting(VARIABLE).lower()
    if value not in _NUMBERS:
        names = ", ".join(name for name in _NUMBERS if name)
        raise ValueError(f"{VARIABLE}={value!r}: expected one of {names}")
    return _NUMBERS[value]
