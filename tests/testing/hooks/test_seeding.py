"""Random inputs of tests: the seed decides them, not the tests that ran before."""

from __future__ import annotations

import random
import traceback
from types import SimpleNamespace

import pytest
import torch

from fictl.testing.hooks.seeding import Seeding, seed_all


def test_a_test_draws_the_same_alone_and_after_others() -> None:
    seeding = Seeding(7, lambda item: True)
    drawn = []
    for before in (0, 3):
        torch.rand(before)
        seeding.pytest_pyfunc_call(None)
        drawn.append((torch.rand(2).tolist(), random.random()))
    assert drawn[0] == drawn[1]


def test_two_fixtures_draw_differently_and_each_the_same_again() -> None:
    seeding = Seeding(7, lambda item: True)

    def draw(name: str) -> float:
        fixture, request = SimpleNamespace(argname=name), SimpleNamespace(node=None)
        setting_up = seeding.pytest_fixture_setup(fixture, request)
        next(setting_up)
        return float(torch.rand(()))

    assert draw("x") == draw("x") != draw("y")


def test_gpus_are_seeded_where_torch_has_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    seeds: list[int] = []
    monkeypatch.setattr(torch.cuda, "manual_seed_all", seeds.append)
    for is_built in (False, True):
        monkeypatch.setattr(torch.backends.cuda, "is_built", lambda is_built=is_built: is_built)
        seed_all(7)
        assert torch.initial_seed() == 7
    assert seeds == [7]


def test_devices_that_torch_has_not_cost_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.backends.cuda, "is_built", lambda: False)
    monkeypatch.setattr(traceback, "format_stack", lambda: pytest.fail("a traceback is formatted"))
    seed_all(7)
