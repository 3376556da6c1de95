"""Snapshots from before a solution: all that is in them is compared later."""

from __future__ import annotations

import inspect

import pytest
import torch

from fictl.judge.inside.integrity import _attributes


@pytest.mark.parametrize("kind", [torch.Tensor, torch.cuda.Event, torch.cuda.Stream])
def test_all_attributes_of_a_class_are_seen_with_inherited_ones(kind: type) -> None:
    seen = {name: value for (_, name), value in _attributes(kind)}
    assert {*dir(kind)} <= {*seen}
    for name, value in seen.items():
        assert inspect.getattr_static(kind, name) is value
