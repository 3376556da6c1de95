"""--axes, as every command reads it."""

from __future__ import annotations

import pytest

from fictl.cli.options import sizes
from fictl.errors import UsageError


@pytest.mark.parametrize(
    ("said", "found"),
    [("", {}), ("n=7", {"n": 7}), (" a = 0 , b=64,", {"a": 0, "b": 64}), ("n=1,n=1", {"n": 1})],
)
def test_sizes_are_read(said: str, found: dict[str, int]) -> None:
    assert sizes(said) == found


@pytest.mark.parametrize(
    "said",
    [
        "n",
        "n=",
        "=7",
        "n=-1",
        "n=1.5",
        "n=1e3",
        "n=nan",
        "n=inf",
        "n=0x10",
        "n=1_000",
        "n=+7",
        "n=\uff17",
        "n=\u0667",
        "n=\u00b2",
        f"n={2**80}",
        "n=1,n=2",
        "n==7",
    ],
)
def test_what_is_no_size_is_refused(said: str) -> None:
    with pytest.raises(UsageError, match="--axes: "):
        sizes(said)
