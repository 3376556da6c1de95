# ruff: noqa: I001, PYI021, RUF100
"""The ops of fictl with their types. Generated from the declarations in every op.py."""

from fictl.kernels.segment.segment_sum.op import Walk  # type: ignore[import-not-found, unused-ignore]
import torch

class SegmentSum:
    """out[s] = input[indptr[s]:indptr[s + 1]].sum(0), rounded once from fp32; 0 without rows.

    The sum of a segment is the same, bit by bit, whatever is batched with it.

    max_rows: the first plan makes room for as many rows, and later ones, of as many segments, take
        its place: a CUDA graph of run() goes on with them. None fits the memory to each plan.
    device: where run's tensors are. None is where plan's indptr is.
    """

    def __init__(
        self,
        max_rows: int | None = None,
        device: torch.device | str | None = None,
    ) -> None: ...
    def plan(self, indptr: torch.Tensor) -> None:
        """Share out the work of the segments evenly, for any number of run().

        indptr: (segments + 1,), int32; where each segment starts, and where the last one ends. It
            is read on the host: one that is on a GPU is waited for, one on the CPU is not.
        """

    def run(
        self,
        input: torch.Tensor,
        out: torch.Tensor | None = None,
        enable_pdl: bool | None = None,
        tactic: Walk | None = None,
    ) -> torch.Tensor:
        """The sums of the segments of the last plan().

        input: (rows, dim); the elements of a row are neighbours, the rows at any pitch. At least
            as many as indptr says, or max_rows; those beyond are of no segment.
        out: (segments, dim), not in input. None allocates it.
        enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
        tactic: how to share out the work. None is the one tuned for such sizes, or the usual.
        """

def rmsnorm(
    input: torch.Tensor,
    weight: torch.Tensor,
    eps: float = 1e-06,
    out: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor:
    """input / sqrt(mean(input^2) + eps) * weight over the last dimension, rounded once from fp32.

    input: (rows, hidden) or (tokens, heads, hidden); the elements of a row are neighbours, the
        rows at any pitch. What a row gives does not depend on the other rows.
    weight: (hidden,), contiguous, of input's dtype.
    eps: a number.
    out: like input; may be input itself. None allocates it.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """

def scale(input: torch.Tensor, factor: float, out: torch.Tensor | None = None) -> torch.Tensor:
    """input * factor, rounded once from fp32.

    input: any shape; dense in any order of its dimensions, or rows at a regular pitch.
    factor: a number.
    out: like input; may be input itself. None allocates it.
    """
