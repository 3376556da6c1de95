"""Ranks of one process: on the emulated device, or on streams of one GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from fictl.comm import Group, Workspace
from fictl.testing import run_ranks


class World:
    """Workspaces of all ranks, and calls of an op on each of them."""

    def __init__(self, size: int, bytes: int, device: str) -> None:
        self.size = size
        self.workspaces = [Workspace(group, bytes, device=device) for group in Group.local(size)]

    def call(self, op: Callable[..., Any], inputs: list[torch.Tensor], **options: Any) -> list[Any]:
        """Call op(input, workspace=…) on every rank."""

        def of(x: torch.Tensor, workspace: Workspace) -> Callable[[], Any]:
            return lambda: op(x, workspace=workspace, **options)

        return run_ranks([of(x, w) for x, w in zip(inputs, self.workspaces, strict=True)])


@pytest.fixture
def world(device: str) -> Callable[..., World]:
    def make(size: int, bytes: int = 1 << 16) -> World:
        return World(size, bytes, device)

    return make
