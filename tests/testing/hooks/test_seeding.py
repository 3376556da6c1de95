"""Random inputs of tests: the seed decides them, not the tests that ran before."""

from __future__ import annotations

import random
from types import SimpleNamespace

import torch

from fictl.testing.hooks.seeding import Seeding


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
