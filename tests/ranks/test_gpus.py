"""GPUs for ranks."""

from __future__ import annotations

import pytest

from fictl.errors import SetupError
from fictl.ranks import gpus


@pytest.mark.parametrize(("here", "words"), [(1, "1 is visible"), (3, "3 are visible")])
def test_too_few_are_refused(monkeypatch, here, words):
    monkeypatch.setattr(gpus, "visible_gpus", lambda: [object()] * here)
    with pytest.raises(SetupError, match=f"needs 4 GPUs, {words}"):
        gpus.require_gpus(4)


@pytest.mark.parametrize("here", [0, 4, 8])
def test_enough_or_none_are_left_to_others(monkeypatch, here):
    monkeypatch.setattr(gpus, "visible_gpus", lambda: [object()] * here)
    gpus.require_gpus(4)
