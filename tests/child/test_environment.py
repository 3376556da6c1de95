"""Variables of children: what they call is the op, and nobody else looks on."""

from __future__ import annotations

import pytest

from fictl import settings
from fictl.child.environment import unreplaced, unwatched


@pytest.mark.parametrize("variables", [unwatched, unreplaced])
def test_no_solution_runs_in_place_of_an_op(variables, monkeypatch) -> None:
    monkeypatch.setenv("FICTL_APPLY", "/a/dataset")
    monkeypatch.setenv("FICTL_TRACING", "/a/dataset")
    for name, text in variables().items():
        monkeypatch.setenv(name, text)
    assert (settings.APPLY.get(), settings.TRACING.get()) == (None, None)
