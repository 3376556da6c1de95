"""The meeting of the ranks on their GPUs."""

from __future__ import annotations

import torch
import torch.distributed as dist

from fictl.profile.ranks import together as meeting


def test_the_gpu_waits_until_the_host_has_enqueued_a_call(monkeypatch):
    order: list[object] = []
    monkeypatch.setattr(torch, "zeros", lambda size, device: f"{size} on {device}")
    monkeypatch.setattr(meeting, "lead", order.append)
    monkeypatch.setattr(dist, "all_reduce", order.append)
    clock = iter([0.0, 0.5, 1.0, 1.0, 1.0])
    monkeypatch.setattr(meeting.time, "perf_counter", lambda: next(clock))
    meet = meeting.together("cuda")
    meet()
    meet()
    assert order == [0.5, "1 on cuda", 1e-3, "1 on cuda"]


def test_emulated_ranks_meet_on_the_host():
    assert meeting.together("cpu") is dist.barrier
