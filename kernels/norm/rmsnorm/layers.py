"""Layers for Hugging Face's kernels, of the exported functions: `fictl export-op --to hf-kernel`."""

from __future__ import annotations

import torch

from . import rmsnorm  # type: ignore[attr-defined]


class RMSNorm(torch.nn.Module):
    """Division of each row by the root of its mean square, times a weight."""

    can_torch_compile = False
    has_backward = False
    weight: torch.Tensor
    variance_epsilon: float

    def forward(self, hidden_states: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(hidden_states)
        hidden = hidden_states.shape[-1]
        rows, flat = hidden_states.reshape(-1, hidden), out.view(-1, hidden)
        rmsnorm(flat, rows, self.weight, self.variance_epsilon, True)
        return out
