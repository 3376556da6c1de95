from __future__ import annotations

import time

import pytest

from fictl.judge.spent import Spent


def test_parts_add_up_and_a_part_within_another_counts_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = iter(range(100))
    monkeypatch.setattr(time, "monotonic", lambda: float(next(clock)))
    spent = Spent()
    with spent.on("timing"), spent.on("overhead"):
        pass
    with spent.on("timing"):
        pass
    assert spent.seconds() == {"rest": 3.0, "timing": 3.0, "overhead": 1.0}


def test_a_part_that_fails_is_counted() -> None:
    spent = Spent()
    with pytest.raises(ValueError, match="why"), spent.on("build"):
        raise ValueError("why")
    assert set(spent.seconds()) == {"rest", "build"}
