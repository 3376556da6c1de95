"""Memory that a caller names by its address."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

import torch

from fictl.comm.workspace import device_of_kernels


@dataclass(frozen=True)
class MemoryAt:
    """`nbytes` of the current GPU's memory, or of this process where it is emulated."""

    address: int
    nbytes: int

    def tensor(self, dtype: torch.dtype) -> torch.Tensor:
        if device_of_kernels().type == "cpu":
            memory = (ctypes.c_uint8 * self.nbytes).from_address(self.address)
            return torch.frombuffer(memory, dtype=dtype)
        return torch.as_tensor(self, device="cuda").view(dtype)

    @property
    def __cuda_array_interface__(self) -> dict[str, object]:
        return {
            "shape": (self.nbytes,),
            "typestr": "|u1",
            "data": (self.address, False),
            "version": 3,
        }
