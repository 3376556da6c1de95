"""Workspaces of ranks in one process: what is refused, and in which words."""

from __future__ import annotations

import base64
import dataclasses
import re
from collections.abc import Callable

import pytest
import torch

from fictl.comm import Group, Workspace, shared_workspace
from fictl.comm import workspace as layout
from fictl.comm.exchange import RankMissing
from fictl.comm.late import LateWait
from fictl.comm.memory import IpcMemory, SharedMemory
from fictl.comm.residency import MOST_BLOCKS
from fictl.errors import FictlError
from fictl.paths import data_root

KERNELS = data_root("kernels")


@pytest.fixture(autouse=True)
def _emulated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FICTL_DEVICE", "emu")


def made(size: int = 2, bytes: int = 1000, **options: object) -> list[Workspace]:
    return [Workspace(group, bytes, **options) for group in Group.local(size)]  # type: ignore[arg-type]


def test_each_rank_sees_the_memory_of_all() -> None:
    first, second = made(fill=0x80000000)
    assert first.table[8:10].tolist() == [first.memory.data_ptr(), second.memory.data_ptr()]
    assert first.table[:4].tolist() == second.table[:4].tolist()[:1] + [0, 2, 1024]
    assert set(first.data.view(torch.float32).tolist()) == {0.0}
    assert first.data.view(torch.float32).signbit().all()


def test_addresses_of_data_as_a_rank_sees_them() -> None:
    """Those of the others are not known yet when a rank of this process makes its part."""
    first, second = made()
    assert first.addresses() == [first.data.data_ptr(), 0]
    assert second.addresses() == [0, second.data.data_ptr()]


@pytest.mark.parametrize(("most", "blocks"), [(1, 1), (36, 36), (1 << 20, 256)])
def test_blocks_of_kernels_that_wait(most: int, blocks: int) -> None:
    first, _ = made()
    first.limit_blocks(most)
    assert first.table[4] == blocks


def test_its_first_use_waits_for_all_ranks() -> None:
    group, _ = Group.local(2)
    workspace = Workspace(group, 64)
    with pytest.raises(RankMissing, match="rank 1 did not come"):
        workspace.table  # noqa: B018


def test_ranks_must_agree() -> None:
    one, two = Group.local(2)
    first, second = Workspace(one, 256), Workspace(two, 512)
    for workspace in (first, second):
        with pytest.raises(FictlError, match="rank 1 makes a workspace of bytes 512, rank 0"):
            workspace.table  # noqa: B018


def test_ranks_of_one_process_share_one_device() -> None:
    """Their pointers are plain ones, which another GPU has no access to."""
    one, two = Group.local(2)
    first, _ = Workspace(one, 256, device="cpu"), Workspace(two, 256, device="cpu:0")
    with pytest.raises(FictlError, match="rank 1 makes a workspace on device 'cpu:0', rank 0"):
        first.table  # noqa: B018


def test_memory_stays_until_every_rank_has_destroyed_its_own() -> None:
    first, second = made(fill=7)
    peer = int(first.table[9])
    second.destroy()
    assert peer == int(first.table[9])
    with pytest.raises(FictlError, match=r"rank 1 of 2 .*it was destroyed"):
        second.table  # noqa: B018
    first.destroy()
    first.destroy()  # again: nothing is left to do


def test_a_rebuilt_one_is_as_new() -> None:
    first, second = made(fill=7)
    first.data.zero_()
    for workspace in (first, second):
        workspace.rebuild()
    assert first.data[0].item() == 7
    assert first.table[9] == second.memory.data_ptr()


@pytest.mark.parametrize("bytes", [-1, 1 << 41])
def test_a_size_beyond_reason(bytes: int) -> None:
    with pytest.raises(ValueError, match=f"a workspace of {bytes} bytes"):
        made(bytes=bytes)


def test_what_it_is_not_for() -> None:
    workspace, _ = made(purpose="all_reduce of float16")
    workspace.require("all_reduce", 1024, "all_reduce of float16")
    with pytest.raises(ValueError, match="is for all_reduce of float16, not for all_reduce of bf"):
        workspace.require("all_reduce", 8, "all_reduce of bfloat16")
    with pytest.raises(ValueError, match="has room for 1024 bytes, the call needs 1025"):
        workspace.require("all_reduce", 1025, "all_reduce of float16")


def test_the_shared_one_grows() -> None:
    device = torch.device("cpu")
    first = shared_workspace(100, device)
    assert shared_workspace(1 << 20, device) is first
    assert shared_workspace((1 << 20) + 1, device).bytes == 1 << 21
    assert shared_workspace(8, device, purpose="other").purpose == "other"


def test_an_outgrown_one_stays_for_graphs_that_were_captured_with_it() -> None:
    device = torch.device("cpu")
    first = shared_workspace(100, device, purpose="captured")
    address = first.memory.data_ptr()
    assert shared_workspace(1 << 21, device, purpose="captured") is not first
    assert first.table[8] == first.memory.data_ptr() == address


@pytest.mark.parametrize("name", ["", "../etc/passwd", "/etc/passwd", "fictl-comm-../../x", "x"])
def test_a_peer_cannot_name_any_file(name: str) -> None:
    with pytest.raises(FictlError, match="does not name memory"):
        SharedMemory(64, 1, 2).open([name, ""], 1)


def test_a_file_of_another_size() -> None:
    one = SharedMemory(64, 0, 2)
    try:
        with pytest.raises(FictlError, match="has 128 bytes, not 256"):
            SharedMemory(128, 1, 2).open([one.handle(), ""], 1)
        with pytest.raises(FictlError, match=r"No such file[\s\S]*of one host"):
            SharedMemory(64, 1, 2).open([f"{one.handle()}0", ""], 1)
    finally:
        one.free()


@pytest.mark.parametrize("handle", ["", "%", base64.b64encode(b"short").decode(), None])
def test_a_handle_that_is_none(handle: str, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = object.__new__(IpcMemory)
    memory._device, memory._opened, memory._address = torch.device("cuda", 0), [], 0
    guard: Callable[[object], object] = lambda device: torch.no_grad()  # noqa: E731
    monkeypatch.setattr("fictl.comm.memory._context_of", guard)
    with pytest.raises(FictlError, match="CUDA IPC handle"):
        memory.open([handle, ""], 1)


def test_both_sides_have_one_layout() -> None:
    """peers.cuh and peers.h are read by kernels, workspace.py and late.py write what they read."""
    peers = (KERNELS / "include/fictl/comm/peers.cuh").read_text(encoding="utf-8")
    binding = (KERNELS / "binding/peers.h").read_text(encoding="utf-8")
    numbers = dict(re.findall(r"constexpr \w+ (k\w+) = (\w+);", peers + binding))
    assert int(numbers["kHeaderBytes"]) == layout.HEADER_BYTES
    assert int(numbers["kMostRanks"]) == layout.MOST_RANKS
    assert int(numbers["kMostBlocks"]) == MOST_BLOCKS
    assert int(numbers["kPeersMagic"], 16) == layout._MAGIC
    assert int(numbers["kPeersFirst"]) == layout._FIRST
    late = re.search(r"struct Late \{(.*?)\};", peers, re.DOTALL)
    assert late is not None
    fields = re.findall(r"int64_t (\w+);", late[1])
    assert fields[1:] == [field.name for field in dataclasses.fields(LateWait)]
