"""Arguments that calls with page tables share."""

from __future__ import annotations

import torch

_WHY = {
    "kv_cache_sf": "caches of 4 bits are not here",
    "v_sf_cache": "caches of 4 bits are not here",
    "skip_softmax_threshold_scale_factor": "the softmax here is exact",
    "own_tables": "keys and values share a page table: uses_shared_paged_kv_idx is True",
}
_PACKED = "queries lie behind one another, and keys in pages"


def refuse_others(op: str, **arguments: object) -> None:
    """Refuse arguments that FlashInfer has and fictl does not."""
    for name, value in arguments.items():
        if value is not None and value is not False:
            argument = "uses_shared_paged_kv_idx" if name == "own_tables" else name
            raise NotImplementedError(
                f"{op}: argument '{argument}' is given; {_WHY.get(name, _PACKED)}"
            )


def one_tensor(
    op: str, name: str, value: torch.Tensor | list[torch.Tensor] | None
) -> torch.Tensor | None:
    """Read a tensor that FlashInfer declares as a list."""
    if value is None or isinstance(value, torch.Tensor):
        return value
    if isinstance(value, list | tuple) and len(value) == 1:
        return value[0]
    raise ValueError(
        f"{op}: argument '{name}' is a {type(value).__name__}; pass a tensor of a number a head"
    )


def tokens_of(op: str, name: str, x: torch.Tensor) -> torch.Tensor:
    """View (requests, 1, heads, dim), with queries of a request or without, as (tokens, heads, dim)."""
    if x.ndim == 3:
        return x
    if x.ndim in (4, 5) and x.shape[1] == 1:
        return x.view(-1, *x.shape[-2:])
    raise ValueError(
        f"{op}: argument '{name}' has shape {tuple(x.shape)}; it is (requests, 1, heads, dim), "
        "(requests, 1, queries, heads, dim) or (tokens, heads, dim)"
    )
