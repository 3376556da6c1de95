"""Requests, positions and pages of the tokens that traces append to paged caches."""

from __future__ import annotations

from collections.abc import Mapping

import torch


def make_tokens(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    """Make tokens at the ends of requests, whose pages are in random order.

    Pages and tokens are shared out evenly: the sizes of requests, tokens, used_pages and page_size
        allow it.
    """
    requests, tokens, page_size = sizes["requests"], sizes["tokens"], sizes["page_size"]
    indptr = _shares(sizes["used_pages"], requests, device)
    new = _shares(tokens, requests, device).diff()
    least = torch.maximum((indptr.diff() - 1) * page_size + 1, new)
    spare = (indptr.diff() * page_size - least + 1).clamp(min=1)
    random = torch.rand(requests, device=device, generator=generator)
    lengths = least + (random * spare).long()
    request = torch.repeat_interleave(new)
    behind = torch.arange(tokens, device=device) - (new.cumsum(0) - new)[request]
    pages = torch.randperm(sizes["pages"], device=device, generator=generator)
    table = {
        "batch_indices": request,
        "positions": (lengths - new)[request] + behind,
        "kv_indices": pages[: sizes["used_pages"]],
        "kv_indptr": indptr,
        "kv_last_page_len": (lengths - 1) % page_size + 1,
    }
    return {name: value.to(torch.int32) for name, value in table.items()}


def _shares(total: int, among: int, device: str) -> torch.Tensor:
    """Return the starts of even shares, and the end of the last one."""
    return torch.arange(among + 1, device=device) * total // among


def check_tokens(**inputs: torch.Tensor) -> None:
    """Raise a ValueError if a token has no page."""
    indptr = inputs["kv_indptr"].tolist()
    if indptr != sorted(indptr) or indptr[0] < 0 or indptr[-1] > len(inputs["kv_indices"]):
        raise ValueError(
            f"kv_indptr goes from {indptr[0]} to {indptr[-1]} and never falls; there are "
            f"{len(inputs['kv_indices'])} kv_indices"
        )
    requests = len(indptr) - 1
    if any(request >= requests for request in inputs["batch_indices"].tolist()):
        raise ValueError(f"batch_indices names a request beyond the {requests} of kv_indptr")
