"""The default group of ranks, before it is opened."""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist

from fictl.errors import SetupError
from fictl.ranks.group import watched_group
from fictl.ranks.rank import Rank


def test_a_rank_without_a_gpu_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FICTL_DEVICE", "cuda")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    group = watched_group(Rank(1, 2, 1), dist.HashStore(), pytest.fail)
    with pytest.raises(SetupError, match="rank 1 sees no GPU"), group:
        pass
