"""Config: what a module of attention is built for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from . import _sm90_tiles
from ._head_dims import fp4_misfit, misfit
from ._tiles import DECODE_ROWS, FEW_ROWS, Tile, tile

if TYPE_CHECKING:
    from ._variant.user_variant import UserVariant

HALVES = {torch.float16: "__half", torch.bfloat16: "__nv_bfloat16"}
EIGHTHS = {torch.float8_e4m3fn: "__nv_fp8_e4m3", torch.float8_e5m2: "__nv_fp8_e5m2"}
TYPES = {**HALVES, **EIGHTHS}
# Keys and values of four bits, two in a byte, in pages with a scale for each 16.
FP4 = torch.uint8
# Values of a result of 8 bits that taller tiles copy at a time.
OUT_CHUNK = 16


@dataclass(frozen=True)
class Config:
    """One kernel: nothing is compiled that was not asked for.

    `rows` is the height of a tile, one of _tiles.py. On CUDA cores it is how many heads of queries
    share a head of keys. `head_dim` is the size of a head of queries and keys, and `head_dim_v` of
    values; 0 is the same size. `keys` are those of a stage on Hopper, where there are several tiles
    of a height, and `gathers` tells that their rows are copied one by one, of pages of any size.

    With `own_tables` values have pages of their own. With `runs` a query sees runs of tokens that do not lie in pages, and items are for one head of
    keys each. `seen` is the C++ variant that says what a query sees, if one does. With `scaled` the
    scales of scores and values are read where they are, as those of queries of 8 bits always are.
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
    tensor_cores: bool = True
    head_dim_v: int = 0
    backend: str = "sm80"
    keys: int = 0
    gathers: bool = False
    runs: bool = False
    seen: str = ""
    scaled: bool = False
    own_tables: bool = False

    def __post_init__(self) -> None:
        kv = TYPES if self.kv is not FP4 else {FP4: ""}
        for name, dtype, accepted in (("q", self.q, TYPES), ("k and v", self.kv, kv)):
            _check(name, dtype, accepted)
        _check("out", self.o, TYPES)
        if not self.head_dim_v:
            object.__setattr__(self, "head_dim_v", self.head_dim)
        reason = misfit(self.head_dim, self.head_dim_v, kv_bytes=self.kv.itemsize, rope=self.rope)
        if self.kv is FP4:
            reason = fp4_misfit(self.head_dim, self.head_dim_v, rope=self.rope)
            if not self.paged or not self.tensor_cores or self.backend != "sm80":
                reason = "keys of 4 bits are for pages, and tensor cores by mma.sync"
        elif self.tensor_cores and self.rows == FEW_ROWS.rows:
            reason = f"tiles of {self.rows} rows are for keys of 4 bits"
        if (
            self.rows not in (FEW_ROWS.rows, DECODE_ROWS)
            and self.o in EIGHTHS
            and self.head_dim_v % OUT_CHUNK
        ):
            reason = f"results of 8 bits are of heads of a multiple of {OUT_CHUNK} values"
        if reason:
            raise ValueError(f"attention: {reason}")
        self.tile  # noqa: B018 a ValueError where there is none

    @property
    def tile(self) -> Tile:
        """The tile of its height."""
        if self.backend == "sm90":
            return _sm90_tiles.tile(self.rows, self.keys, self.head_dim, self.head_dim_v)
        return tile(self.rows, self.head_dim, self.tensor_cores, self.head_dim_v)

    @property
    def parameters(self) -> dict[str, object]:
        """The parameters of config.jinja."""
        keys = "RunKeys" if self.runs else "PagedKeys" if self.paged else "RaggedKeys"
        keys = f"Own{keys}" if self.own_tables else keys
        of_type = "PagedFp4Keys" if self.kv is FP4 else f"{keys}<{TYPES[self.kv]}>"
        return {
            "q": TYPES[self.q],
            "o": TYPES[self.o],
            "keys": of_type,
            "variant": f"All<{', '.join(self._variants())}>",
            "text": "" if self.user is None else self.user.text,
            "head_dim": self.head_dim,
            "head_dim_v": self.head_dim_v,
            "rows": self.rows,
            "stage_keys": self.tile.keys,
            "warp_rows": self.tile.warp_rows,
            "rope": "true" if self.rope else "false",
            "gathers": self.gathers,
            "fp8": self.backend == "sm90" and self.q in EIGHTHS,
        }

    def _variants(self) -> list[str]:
        """The C++ variants in the order of models that have several: biases, then soft caps."""
        parts = {
            "HeadScales": self.q in EIGHTHS or self.scaled,
            "Alibi": self.alibi,
            "SoftCap": self.soft_cap,
            "CustomMask": self.custom_mask,
            self.seen: bool(self.seen),
        }
        names = [name for name, is_on in parts.items() if is_on]
        return names if self.user is None else [*names, f"::{self.user.name}"]


def _check(name: str, dtype: torch.dtype, accepted: dict[torch.dtype, str]) -> None:
    if dtype not in accepted:
        names = ", ".join(str(known).removeprefix("torch.") for known in accepted)
        raise TypeError(f"attention: {name} has dtype {dtype}; accepted: {names}")
