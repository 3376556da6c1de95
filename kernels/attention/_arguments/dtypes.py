"""The dtypes of queries, keys and outputs: names or torch.dtype."""

from __future__ import annotations

from typing import NamedTuple

import torch

Dtype = str | torch.dtype


class Dtypes(NamedTuple):
    """The dtypes of queries, of keys and values, and of outputs."""

    q: torch.dtype
    kv: torch.dtype
    o: torch.dtype


def dtype_of(op: str, name: str, value: Dtype) -> torch.dtype:
    """Look up a dtype by its name; a torch.dtype is returned as it is."""
    dtype = getattr(torch, value, None) if isinstance(value, str) else value
    if isinstance(dtype, torch.dtype):
        return dtype
    raise TypeError(f"{op}: argument '{name}' is {value!r}; pass a torch.dtype or its name")


def dtypes_of(op: str, q: Dtype, kv: Dtype | None, o: Dtype | None) -> Dtypes:
    """Read the dtypes of queries, keys and outputs; None is the queries' dtype."""
    query = dtype_of(op, "q_data_type", q)
    keys = query if kv is None else dtype_of(op, "kv_data_type", kv)
    return Dtypes(query, keys, query if o is None else dtype_of(op, "o_data_type", o))
