"""Algorithm of top-k, which a setting can fix."""

from __future__ import annotations

from fictl.op import setting

VARIABLE = "FICTL_TOPK_ALGO"

# As plan.cuh has them, under FlashInfer's names and one that says more.
_NUMBERS = {"": 0, "auto": 0, "filtered": 1, "multi_cta": 2, "radix": 2, "clusters": 3}


def algorithm() -> int:
    """Return the number of the algorithm in the kernel; the setting is read at every call."""
    value = setting(VARIABLE).lower()
    if value not in _NUMBERS:
        names = ", ".join(name for name in _NUMBERS if name)
        raise ValueError(f"{VARIABLE}={value!r}: expected one of {names}")
    return _NUMBERS[value]
