"""FlashInfer's choice of kernels for the exchange of tokens: one of them names what ours do."""

from __future__ import annotations


def require_own(op: str, backend: str) -> None:
    """Raise in words unless `backend` is "trtllm", whose exchange ours is."""
    if backend == "cake":
        raise NotImplementedError(
            f"{op}: backend is 'cake', generated kernels for compute capability 10; "
            "'trtllm' does the same exchange"
        )
    if backend != "trtllm":
        raise ValueError(f"{op}: backend is {backend!r}; accepted: 'trtllm'")
