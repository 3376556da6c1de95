"""Memory by CUDA IPC, with a driver that writes down what it is asked."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import torch

from fictl.comm import driver, memory

DEVICE = torch.device("cuda", 1)
HANDLE = base64.b64encode(b"x" * 64).decode()


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, object, torch.device | None]]:
    """Names of the driver's functions, their arguments, and the device whose context was current."""
    made: list[tuple[str, object, torch.device | None]] = []
    current: list[torch.device] = []

    @contextmanager
    def context(device: torch.device) -> Iterator[None]:
        current.append(device)
        yield
        current.pop()

    def answering(name: str, result: object) -> object:
        def answer(argument: object) -> object:
            made.append((name, argument, current[-1] if current else None))
            return result

        return answer

    for name, result in {
        "allocate": 1 << 30,
        "export_handle": b"own",
        "open_handle": 2 << 30,
        "close_handle": None,
        "free": None,
    }.items():
        monkeypatch.setattr(driver, name, answering(name, result))
    monkeypatch.setattr(memory, "_context_of", context)
    monkeypatch.setattr(torch, "as_tensor", lambda span, device: torch.empty(0))
    return made


def test_the_context_of_its_device_is_current_in_each_call(
    calls: list[tuple[str, object, torch.device | None]],
) -> None:
    own = memory.IpcMemory(100, DEVICE)
    own.handle()
    own.open(["", HANDLE], 0)
    own.close()
    own.free()
    names = ["allocate", "export_handle", "open_handle", "close_handle", "free"]
    assert [name for name, *_ in calls] == names
    assert {device for *_, device in calls} == {DEVICE}


@pytest.mark.parametrize(
    ("size", "allocated"), [(1, 2 << 20), (2 << 20, 2 << 20), (3 << 20, 4 << 20)]
)
def test_allocations_are_of_whole_granules(
    size: int, allocated: int, calls: list[tuple[str, object, torch.device | None]]
) -> None:
    memory.IpcMemory(size, DEVICE)
    assert calls == [("allocate", allocated, DEVICE)]
