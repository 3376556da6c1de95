"""Tensors of the user whose places CUDA graphs know, and what plans copy to them."""

from __future__ import annotations

import torch


class Buffers:
    """Buffers by the names of the wrapper's arguments. Without CUDA graphs there are none."""

    def __init__(
        self, op: str, device: torch.device, graph: bool, given: dict[str, torch.Tensor | None]
    ) -> None:
        self._op = op
        self._device = device
        self._given = given if graph else {}

    def require(self, *names: str) -> None:
        """Refuse a wrapper for CUDA graphs that lacks one of these buffers."""
        for name in names if self._given else ():
            if self._given.get(name) is None:
                raise ValueError(
                    f"{self._op}: argument '{name}' is None; with CUDA graphs "
                    "it is a tensor on the GPU, to which plan() copies"
                )

    def check_lengths(self, first: str) -> None:
        """Hold the lengths of the others against the buffer named, which is (requests + 1,)."""
        known = self._given.get(first)
        for name, buffer in self._given.items():
            at = 1 if "last_page_len" in name else 0
            if known is None or buffer is None or ("indptr" not in name and not at):
                continue
            if len(buffer) != len(known) - at:
                raise ValueError(
                    f"{self._op}: argument '{name}' has {len(buffer)} elements; by the {len(known)} "
                    f"of '{first}' it has {len(known) - at}"
                )

    def place(
        self, name: str, argument: str, value: torch.Tensor, dtype: torch.dtype, non_blocking: bool
    ) -> torch.Tensor:
        """Copy `value` to the device, into the buffer of this name if there is one."""
        buffer = self._given.get(name)
        if buffer is None:
            return value.to(self._device, dtype, non_blocking=non_blocking).contiguous()
        if buffer.dtype is not dtype or not buffer.is_contiguous():
            raise ValueError(
                f"{self._op}: argument '{name}' is of {buffer.dtype} with strides "
                f"{buffer.stride()}; pass a contiguous one of {dtype}"
            )
        self.copy(name, argument, value, non_blocking)
        return buffer

    def get(self, name: str, other: torch.Tensor | None) -> torch.Tensor | None:
        """Return the buffer of this name; `other` without CUDA graphs."""
        return self._given.get(name, other)

    def placed(self, name: str, argument: str, value: torch.Tensor) -> torch.Tensor:
        """Return the buffer of this name, to which the caller has copied `value`."""
        buffer = self._given[name]
        assert buffer is not None
        self._check_room(buffer, name, argument, value)
        return buffer

    def copy_all(self, non_blocking: bool, **values: torch.Tensor) -> None:
        """Copy to the buffers that are called as the arguments."""
        for argument, value in values.items() if self._given else ():
            self.copy(f"{argument}_buf", argument, value, non_blocking)

    def copy(self, name: str, argument: str, value: torch.Tensor, non_blocking: bool) -> None:
        """Copy to the buffer of this name, if there is one."""
        buffer = self._given.get(name)
        if buffer is None or buffer.data_ptr() == value.data_ptr():
            return
        self._check_room(buffer, name, argument, value)
        buffer[: len(value)].copy_(value, non_blocking=non_blocking)

    def _check_room(
        self, buffer: torch.Tensor, name: str, argument: str, value: torch.Tensor
    ) -> None:
        if len(value) > len(buffer):
            raise ValueError(
                f"{self._op}: argument '{argument}' has {len(value)} elements; '{name}', which is "
                f"for CUDA graphs, has room for {len(buffer)}"
            )
