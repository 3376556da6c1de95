"""Element types of this family: each is a module of its own."""

from __future__ import annotations

import torch

TYPES = {torch.float32: "float", torch.float16: "__half", torch.bfloat16: "__nv_bfloat16"}


def cpp_type(dtype: torch.dtype) -> str:
    if dtype not in TYPES:
        given, *accepted = (str(t).removeprefix("torch.") for t in (dtype, *TYPES))
        raise TypeError(
            f"sampling: an argument of probabilities or logits has dtype {given}; accepted: "
            f"{', '.join(accepted)}"
        )
    return TYPES[dtype]
