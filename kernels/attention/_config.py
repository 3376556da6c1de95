"""Config: what a module of attention is built for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from ._user_variant import UserVariant

QUERIES = {torch.float16: "__half", torch.bfloat16: "__nv_bfloat16"}
KEYS = {
    **QUERIES,
    torch.float8_e4m3fn: "__nv_fp8_e4m3",
    torch.float8_e5m2: "__nv_fp8_e5m2",
}
HEAD_DIMS = (64, 128, 256)


@dataclass(frozen=True)
class Config:
    """One kernel: nothing is compiled that was not asked for.

    `rows` is the height of a tile: 16, 64 or 128 on tensor cores; where CUDA cores do it, how many
    heads share one of the keys.
    """

    q: torch.dtype
    kv: torch.dtype
    o: torch.dtype
    head_dim: int
    paged: bool
    rows: int
    rope: bool = False
    soft_cap: bool = False
    alibi: bool = False
    custom_mask: bool = False
    user: UserVariant | None = None

    def __post_init__(self) -> None:
        for name, dtype, accepted in (("q", self.q, QUERIES), ("k and v", self.kv, KEYS)):
            _check(name, dtype, accepted)
        _check("out", self.o, QUERIES)
        if self.head_dim not in HEAD_DIMS:
            raise ValueError(
                f"attention: head_dim is {self.head_dim}; accepted: "
                + ", ".join(map(str, HEAD_DIMS))
            )

    @property
    def parameters(self) -> dict[str, object]:
        """Of config.jinja."""
        keys = "PagedKeys" if self.paged else "RaggedKeys"
        # Biases come before what bends the logits, as in models that have both.
        parts = {
            "Alibi": self.alibi,
            "SoftCap": self.soft_cap,
            "CustomMask": self.custom_mask,
        }
        names = [name for name, is_on in parts.items() if is_on]
        if self.user is not None:
            names.append(f"::{self.user.name}")
        return {
            "q": QUERIES[self.q],
            "o": QUERIES[self.o],
            "keys": f"{keys}<{KEYS[self.kv]}>",
            "variant": f"All<{', '.join(names)}>",
            "text": "" if self.user is None else self.user.text,
            "head_dim": self.head_dim,
            "rows": self.rows,
            "rope": "true" if self.rope else "false",
        }


def _check(name: str, dtype: torch.dtype, accepted: dict[torch.dtype, str]) -> None:
    if dtype not in accepted:
        names = ", ".join(str(each).removeprefix("torch.") for each in accepted)
        raise TypeError(f"attention: {name} has dtype {dtype}; accepted: {names}")
