"""vLLM's custom all-reduce, by FlashInfer's names: communicators as numbers, memory as addresses.

Peers never read an input: each rank pushes its own. So registering only says which memory a call
may name, and graphs are complete when they are captured.
"""

from __future__ import annotations

from itertools import count

import torch

from ._all_reduce_workspace import AllReduceWorkspace
from ._captured_sums import CapturedSum, encoded, require_equal
from ._shared_buffers import SharedBuffer, shared_buffer
from .all_reduce.op import all_reduce

__all__ = [
    "vllm_all_reduce",
    "vllm_dispose",
    "vllm_get_graph_buffer_ipc_meta",
    "vllm_init_custom_ar",
    "vllm_meta_size",
    "vllm_register_buffer",
    "vllm_register_graph_buffers",
]

_META_BYTES = 256
_MOST_CTAS = 36

_numbers = count(1)
# Communicators by their number: a number is never used again.
_alive: dict[int, _Communicator] = {}
# Those of buffers, of which each can have one.
_of_meta: dict[SharedBuffer, _Communicator] = {}


class _Communicator:
    """Workspaces for sums, kept by the buffer that the communicator was made on."""

    def __init__(self, meta: SharedBuffer) -> None:
        self.meta, self.name = meta, f"{meta.group_name} #{meta.number}"
        self.buffers: list[SharedBuffer] = []
        self.captured: list[CapturedSum] = []
        self._workspaces: list[AllReduceWorkspace] = []
        self.ctas = 0
        self.grow(meta.nbytes - _META_BYTES)

    @property
    def rank(self) -> int:
        return self.meta.room.rank

    @property
    def size(self) -> int:
        return self.meta.room.size

    @property
    def workspace(self) -> AllReduceWorkspace | None:
        """Return the workspace of the sums from now on."""
        return self._workspaces[-1] if self._workspaces else None

    @property
    def most_bytes(self) -> int:
        return self.workspace.bytes if self.workspace is not None else 0

    def grow(self, nbytes: int) -> None:
        """Make room for inputs of as many bytes. Captured graphs keep the workspace that they have."""
        if nbytes <= self.most_bytes:
            return
        room = self.meta.room
        workspace = AllReduceWorkspace(room.group, nbytes, device=room.device)
        self._workspaces.append(workspace)
        self.meta.on_free.append(workspace.destroy)
        self.ctas = 0

    def limit(self, workspace: AllReduceWorkspace, ctas: int) -> None:
        if self.ctas != ctas:
            workspace.shared.limit_blocks(ctas)
            self.ctas = ctas


def vllm_meta_size() -> int:
    """Return the bytes of a communicator's buffer that no input has room in."""
    return _META_BYTES


def vllm_init_custom_ar(
    ipc_tensors: list[int], rank_data: torch.Tensor, rank: int, full_nvlink: bool
) -> int:
    """Make a communicator, and return its number. All ranks come here together.

    ipc_tensors: of create_shared_buffer(vllm_meta_size() + most bytes of an input). It keeps the
        communicator's memory, and frees it. Behind vllm_dispose() it can have another one.
    rank_data: is not needed.
    rank: of this process in the group of the buffer.
    full_nvlink: is not needed: a way follows from bytes and ranks.
    """
    name = "vllm_init_custom_ar"
    meta = shared_buffer(name, ipc_tensors)
    if rank != meta.room.rank:
        raise ValueError(f"{name}: rank is {rank}, the buffer of ipc_tensors is {meta.room.group}")
    if meta.nbytes < _META_BYTES:
        raise ValueError(
            f"{name}: the buffer of ipc_tensors has {meta.nbytes} bytes, fewer than "
            f"vllm_meta_size(), {_META_BYTES}"
        )
    if meta in _of_meta:
        raise ValueError(
            f"{name}: the buffer of ipc_tensors has a communicator; vllm_dispose() it first"
        )
    while meta.on_free:  # Workspaces of a communicator before: no rank has one any more.
        meta.on_free.pop()()
    _of_meta[meta] = communicator = _Communicator(meta)
    number = next(_numbers)
    _alive[number] = communicator
    return number


def vllm_dispose(fa: int) -> None:
    """End a communicator. Its memory stays, as peers may be using it, until its buffer is freed."""
    _require_known("vllm_dispose", fa)
    del _of_meta[_alive.pop(fa).meta]


def vllm_register_buffer(fa: int, fake_ipc_ptrs: list[int]) -> None:
    """Let calls name a buffer of create_shared_buffer(). All ranks come here together.

    It also makes room for inputs of as many bytes as the buffer has.
    """
    name = "vllm_register_buffer"
    communicator = _communicator(name, fa)
    buffer = shared_buffer(name, fake_ipc_ptrs)
    if (buffer.group_name, buffer.room.rank) != (communicator.meta.group_name, communicator.rank):
        raise ValueError(
            f"{name}: the buffer is of {buffer.room.group}, the communicator of "
            f"{communicator.meta.room.group}"
        )
    if buffer not in communicator.buffers:
        communicator.buffers.append(buffer)
    communicator.grow(buffer.nbytes)


def vllm_all_reduce(
    fa: int,
    inp: torch.Tensor,
    out: torch.Tensor,
    reg_buffer: int,
    reg_buffer_sz_bytes: int,
    num_ctas: int,
) -> None:
    """Sum the inputs of all ranks, with the same bits on each of them: see all_reduce.

    inp: of any size, dense; float16, bfloat16 or float32.
    out: like inp, of the same strides if it is not contiguous; may be inp itself.
    reg_buffer: this rank's address of a registered buffer, with room for the input. 0: the input lies
        in one, or a graph is being captured.
    reg_buffer_sz_bytes: bytes of that buffer.
    num_ctas: blocks at most, 1 to 36, equal on all ranks.
    """
    name = "vllm_all_reduce"
    communicator = _communicator(name, fa)
    if not 1 <= num_ctas <= _MOST_CTAS:
        raise ValueError(f"{name}: num_ctas is {num_ctas}; accepted: 1 to {_MOST_CTAS}")
    if (inp.dtype, inp.numel()) != (out.dtype, out.numel()):
        raise ValueError(
            f"{name}: argument 'out' has {out.numel()} elements of {out.dtype}, 'inp' has "
            f"{inp.numel()} of {inp.dtype}"
        )
    source, sums = _flat(name, inp, out)
    if not inp.numel():
        return
    workspace = communicator.workspace
    if workspace is None or inp.nbytes > workspace.bytes:
        raise ValueError(
            f"{name}: the input has {inp.nbytes} bytes, the communicator has room for "
            f"{communicator.most_bytes}; vllm_register_buffer() makes room for its buffer's bytes"
        )
    is_captured = _is_capturing(inp.device)
    if reg_buffer:
        _require_registered(communicator, reg_buffer, reg_buffer_sz_bytes, inp.nbytes)
    elif not is_captured and not _is_registered(communicator, inp):
        raise ValueError(
            f"{name}: the input at {inp.data_ptr():#x} is not in a registered buffer, and no graph "
            "is being captured; pass the address of one as reg_buffer"
        )
    communicator.limit(workspace, num_ctas)
    all_reduce(source, sums, workspace)
    if is_captured:
        dtype = str(inp.dtype).removeprefix("torch.")
        communicator.captured.append(CapturedSum(inp.nbytes, dtype))


def vllm_get_graph_buffer_ipc_meta(fa: int) -> tuple[list[int], list[int]]:
    """Return what this rank has captured since the last registering: bytes, 64 for each sum, and an
    offset for each, 0.
    """
    communicator = _communicator("vllm_get_graph_buffer_ipc_meta", fa)
    captured = communicator.captured
    return encoded(captured, communicator.name), [0] * len(captured)


def vllm_register_graph_buffers(
    fa: int, handles: list[list[int]], offsets: list[list[int]]
) -> None:
    """Check that all ranks have captured the same sums, without which replays would not end.

    handles, offsets: what vllm_get_graph_buffer_ipc_meta() returned on each rank, in their order.
    """
    name = "vllm_register_graph_buffers"
    communicator = _communicator(name, fa)
    if len(handles) != communicator.size or len(offsets) != communicator.size:
        raise ValueError(
            f"{name}: handles of {len(handles)} ranks and offsets of {len(offsets)}; the "
            f"communicator has {communicator.size}"
        )
    require_equal(name, communicator.captured, communicator.name, communicator.rank, handles)
    communicator.captured = []


def _require_known(op: str, fa: int) -> None:
    if fa not in _alive:
        raise ValueError(
            f"{op}: fa is {fa}, not a communicator: it was disposed of, or "
            "vllm_init_custom_ar() did not return it"
        )


def _communicator(op: str, fa: int) -> _Communicator:
    _require_known(op, fa)
    communicator = _alive[fa]
    if not communicator.meta.is_alive:
        raise ValueError(f"{op}: the buffer that communicator {fa} was made on was freed")
    return communicator


def _flat(op: str, inp: torch.Tensor, out: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """View both in the order of their memory, which is the same one."""
    if inp.is_contiguous() and out.is_contiguous():
        return inp.view(-1), out.view(-1)
    if inp.stride() == out.stride() and inp.shape == out.shape and _is_dense(inp):
        size = (inp.numel(),)
        return inp.as_strided(size, (1,)), out.as_strided(size, (1,))
    raise ValueError(
        f"{op}: 'inp' of shape {tuple(inp.shape)} has strides {inp.stride()}, 'out' of shape "
        f"{tuple(out.shape)} has {out.stride()}; both are contiguous, or dense in the same order"
    )


def _is_dense(x: torch.Tensor) -> bool:
    """Tell whether each element has a place of its own, and nothing else lies between them."""
    places = 1
    for stride, size in sorted(zip(x.stride(), x.shape, strict=True)):
        if size > 1 and stride != places:
            return False
        places *= size
    return True


def _require_registered(communicator: _Communicator, address: int, room: int, nbytes: int) -> None:
    name = "vllm_all_reduce"
    if not any(buffer.is_alive and buffer.own == address for buffer in communicator.buffers):
        peers = (
            f"it is that of rank {buffer.pointers.index(address)}, and this is rank "
            f"{communicator.rank}"
            for buffer in communicator.buffers
            if address in buffer.pointers and buffer.is_alive
        )
        why = next(peers, "it was freed, or vllm_register_buffer() did not get it")
        raise ValueError(
            f"{name}: reg_buffer {address:#x} is not this rank's address of a registered buffer: "
            f"{why}"
        )
    has = max(b.nbytes for b in communicator.buffers if b.is_alive and b.own == address)
    if not nbytes <= room <= has:
        raise ValueError(
            f"{name}: reg_buffer_sz_bytes is {room}, for an input of {nbytes} bytes; the buffer "
            f"has {has}"
        )


def _is_registered(communicator: _Communicator, x: torch.Tensor) -> bool:
    return any(
        buffer.is_alive and buffer.has(x.data_ptr(), x.nbytes) for buffer in communicator.buffers
    )


def _is_capturing(device: torch.device) -> bool:
    return device.type == "cuda" and torch.cuda.is_current_stream_capturing()
