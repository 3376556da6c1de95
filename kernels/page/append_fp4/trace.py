"""Traces of the appends to caches of four bits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

from fictl.trace import Const, Expr, Scalar, Tensor, TraceTemplate, Var

from .._tokens import check_tokens, make_tokens


def slots(
    batch_indices: torch.Tensor,
    positions: torch.Tensor,
    kv_indices: torch.Tensor,
    kv_indptr: torch.Tensor,
    page_size: int,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return the tokens that are not padding, the page of each, and its slot there."""
    token = (batch_indices >= 0).nonzero()[:, 0]
    request, position = batch_indices[token].long(), positions[token].long()
    page = kv_indices[kv_indptr[request].long() + position // page_size].long()
    return token, page, position % page_size


def quantized(x: torch.Tensor, scale: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Return packed e2m1 and the scales of 16; fp32, rounded at each step, exact to the byte."""
    blocks = x.float().reshape(*x.shape[:-1], x.shape[-1] // 16, 16)
    of_all = torch.tensor(scale, dtype=torch.float32, device=x.device)
    largest = torch.finfo(torch.float32).max
    wanted = blocks.abs().amax(-1) * (1 / (6 * of_all)).clamp(max=largest)
    scales = wanted.clamp(max=448).to(torch.float8_e4m3fn)
    factor = (1 / (scales.float() * of_all)).clamp(max=largest)
    factor = torch.where(scales.float() > 0, factor, 0.0)
    values = (blocks * factor[..., None]).flatten(-2)
    # As the kernel multiplies: by halves, so that infinity times zero is no sign of its own.
    size = values.abs()
    code = (size > 0.25).to(torch.uint8) + (size > 1.25) + (size > 2.5) + (size > 5)
    code = code + (size >= 0.75) + (size >= 1.75) + (size >= 3.5) + x.signbit().to(torch.uint8) * 8
    return code[..., 0::2] | code[..., 1::2] << 4, scales


def _written(cache: torch.Tensor, at: tuple[Any, ...], rows: torch.Tensor) -> torch.Tensor:
    """Return a copy of a cache with those rows; in fp64, as there is no writing by index in fp8."""
    wide = cache.clone() if cache.dtype == torch.uint8 else cache.double()
    wide[at] = rows.to(wide.dtype)
    return wide.to(cache.dtype)


def _append(
    append_key: torch.Tensor,
    append_value: torch.Tensor,
    paged_kv_cache: torch.Tensor,
    kv_cache_sf: torch.Tensor,
    scales: tuple[float, float],
    token: torch.Tensor,
    page: torch.Tensor,
    slot: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    for part, rows in enumerate((append_key, append_value)):
        packed, sf = quantized(rows[token], scales[part])
        paged_kv_cache = _written(paged_kv_cache, (page, part, slot), packed)
        kv_cache_sf = _written(kv_cache_sf, (page, part, slot), sf)
    return paged_kv_cache, kv_cache_sf


def _reference(
    append_key: torch.Tensor,
    append_value: torch.Tensor,
    batch_indices: torch.Tensor,
    positions: torch.Tensor,
    paged_kv_cache: torch.Tensor,
    kv_cache_sf: torch.Tensor,
    kv_indices: torch.Tensor,
    kv_indptr: torch.Tensor,
    kv_last_page_len: torch.Tensor,
    k_scale: float,
    v_scale: float,
) -> tuple[torch.Tensor, torch.Tensor]:
    where = slots(batch_indices, positions, kv_indices, kv_indptr, paged_kv_cache.shape[2])
    scales = k_scale, v_scale
    return _append(append_key, append_value, paged_kv_cache, kv_cache_sf, scales, *where)


def _slot_reference(
    append_key: torch.Tensor,
    append_value: torch.Tensor,
    slot_mapping: torch.Tensor,
    paged_kv_cache: torch.Tensor,
    kv_cache_sf: torch.Tensor,
    k_scale: float,
    v_scale: float,
) -> tuple[torch.Tensor, torch.Tensor]:
    page_size = paged_kv_cache.shape[2]
    beyond = len(paged_kv_cache) * page_size
    token = ((slot_mapping >= 0) & (slot_mapping < beyond)).nonzero()[:, 0]
    slot = slot_mapping[token].long()
    where = token, slot // page_size, slot % page_size
    scales = k_scale, v_scale
    return _append(append_key, append_value, paged_kv_cache, kv_cache_sf, scales, *where)


def _mla_reference(
    append_ckv: torch.Tensor,
    append_kpe: torch.Tensor,
    batch_indices: torch.Tensor,
    positions: torch.Tensor,
    ckv_cache: torch.Tensor,
    ckv_sf_cache: torch.Tensor,
    kpe_cache: torch.Tensor,
    kv_indices: torch.Tensor,
    kv_indptr: torch.Tensor,
    kv_last_page_len: torch.Tensor,
    ckv_scale: float,
    kpe_scale: float,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    where = slots(batch_indices, positions, kv_indices, kv_indptr, ckv_cache.shape[1])
    token, *at = where
    packed, scales = quantized(append_ckv[token], ckv_scale)
    of_all = torch.tensor(kpe_scale, dtype=torch.float32, device=append_kpe.device)
    rotated = (append_kpe[token].float() * (1 / of_all)).clamp(-448, 448)
    return (
        _written(ckv_cache, (*at,), packed),
        _written(ckv_sf_cache, (*at,), scales),
        _written(kpe_cache, (*at,), rotated.to(torch.float8_e4m3fn)),
    )


def _judge(reference: Callable[..., tuple[torch.Tensor, ...]], names: str) -> Callable[..., None]:
    """Compare bytes: of a thousand, one may differ, as other kernels round on other paths."""

    def judge(inputs: Mapping[str, Any], results: Mapping[str, Any]) -> None:
        wanted = reference(**inputs)
        for name, want in zip(names.split(), wanted, strict=True):
            got = results[name]
            same = got.view(torch.uint8) == want.view(torch.uint8)
            if want.dtype != torch.uint8:
                same |= got.float().isnan() & want.float().isnan()
            wrong = same.numel() - int(same.sum())
            new = same.numel() - int(
                (want.view(torch.uint8) == inputs[name].view(torch.uint8)).sum()
            )
            assert wrong * 1000 <= new, (
                f"{name}: {wrong} of {new} new bytes are not the reference's"
            )

    return judge


def _init_slots(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    """Make different slots in random order; each eighth token is padding."""
    every = sizes["pages"] * sizes["page_size"]
    mapping = torch.randperm(every, device=device, generator=generator)[: sizes["tokens"]]
    mapping[3::8] = -1
    return {"slot_mapping": mapping}


def _bytes(sizes: Mapping[str, int], inputs: Mapping[str, Any]) -> int:
    """Count the rows of the new tokens, and what they become; the rest of the caches stays."""
    fp4 = [inputs[n] for n in ("append_key", "append_value", "append_ckv") if n in inputs]
    total = sum(x.numel() * (x.element_size() + 0.5 + 1 / 16) for x in fp4)
    if "append_kpe" in inputs:
        total += inputs["append_kpe"].numel() * (inputs["append_kpe"].element_size() + 1)
    return int(total)


_AXES: dict[str, Var | Const | Expr] = {
    "tokens": Var("new tokens"),
    "requests": Var("requests that they are of"),
    "len_indptr": Expr("requests + 1", "requests, and one"),
    "pages": Var("pages of the cache"),
    "used_pages": Var("pages of the requests"),
    "page_size": Const("slots a page", "ps"),
}
_HEADS: dict[str, Var | Const | Expr] = {
    "kv": Const("keys and values", value=2),
    "heads": Const("heads of keys and values", "h"),
    "dim": Const("values a head", "d"),
    "packed": Expr("dim // 2", "bytes a head"),
    "blocks": Expr("dim // 16", "scales a head"),
}
_TOKENS = {
    "batch_indices": Tensor(("tokens",), dtype="int32", doc="the request of each token"),
    "positions": Tensor(("tokens",), dtype="int32", doc="its position in it"),
}
_TABLE = {
    "kv_indices": Tensor(("used_pages",), dtype="int32", doc="the pages of all requests"),
    "kv_indptr": Tensor(("len_indptr",), dtype="int32", doc="where those of a request begin"),
    "kv_last_page_len": Tensor(("requests",), dtype="int32", doc="used slots of their last pages"),
}
_NEW = {
    "append_key": Tensor(("tokens", "heads", "dim")),
    "append_value": Tensor(("tokens", "heads", "dim"), dtype_from="append_key"),
}
_CACHES = {
    "paged_kv_cache": Tensor(
        ("pages", "kv", "page_size", "heads", "packed"), dtype="uint8", doc="e2m1, two in a byte"
    ),
    "kv_cache_sf": Tensor(
        ("pages", "kv", "page_size", "heads", "blocks"), dtype="float8_e4m3fn", doc="scales of 16"
    ),
}
_MLA_CACHES = {
    "ckv_cache": Tensor(("pages", "page_size", "packed"), dtype="uint8"),
    "ckv_sf_cache": Tensor(("pages", "page_size", "blocks"), dtype="float8_e4m3fn"),
    "kpe_cache": Tensor(("pages", "page_size", "kpe_dim"), dtype="float8_e4m3fn"),
}
_SCALES = {
    "k_scale": Scalar("float32", 0.01, "by which all keys are multiplied"),
    "v_scale": Scalar("float32", 0.02, "by which all values are multiplied"),
}
_CONSTRAINTS = (
    "requests >= 1",
    "pages >= used_pages",
    "used_pages >= requests",
    "(tokens + requests - 1) // requests <= used_pages // requests * page_size",
)
# The reference rounds as the kernel does.
_EXACT = {"float8_e4m3fn": (0.0, 0.0)}
_EXTREMES = ("zeros", "small", "large", "nonfinite")

nvfp4_quantize_append_paged_kv_cache = TraceTemplate(
    axes=_AXES | _HEADS,
    inputs={**_NEW, **_TOKENS, **_CACHES, **_TABLE, **_SCALES},
    outputs=_CACHES,
    reference=_reference,
    judge=_judge(_reference, "paged_kv_cache kv_cache_sf"),
    constraints=(*_CONSTRAINTS, "dim % 16 == 0"),
    tolerances=_EXACT,
    init=make_tokens,
    validate=check_tokens,
    extremes=_EXTREMES,
    bytes=_bytes,
    op_type="page",
    description="Quantize keys and values of new tokens to nvfp4 into a paged cache.",
)

nvfp4_quantize_append_paged_kv_cache_with_slot_mapping = TraceTemplate(
    axes={
        "tokens": Var("new tokens"),
        "pages": Var("pages of the cache"),
        "page_size": Const("slots a page", "ps"),
        **_HEADS,
    },
    inputs={
        **_NEW,
        "slot_mapping": Tensor(("tokens",), dtype="int64", doc="the slot of each token"),
        **_CACHES,
        **_SCALES,
    },
    outputs=_CACHES,
    reference=_slot_reference,
    judge=_judge(_slot_reference, "paged_kv_cache kv_cache_sf"),
    constraints=("tokens <= pages * page_size", "dim % 16 == 0"),
    tolerances=_EXACT,
    init=_init_slots,
    extremes=_EXTREMES,
    bytes=_bytes,
    op_type="page",
    description="Quantize keys and values of new tokens to nvfp4 into given slots of a cache.",
)

nvfp4_quantize_append_paged_mla_kv_cache = TraceTemplate(
    axes=_AXES
    | {
        "ckv_dim": Const("values of a latent vector", "ckv"),
        "kpe_dim": Const("values of a rotated key", "kpe"),
        "packed": Expr("ckv_dim // 2", "bytes of a latent vector"),
        "blocks": Expr("ckv_dim // 16", "scales of a latent vector"),
    },
    inputs={
        "append_ckv": Tensor(("tokens", "ckv_dim")),
        "append_kpe": Tensor(("tokens", "kpe_dim"), dtype_from="append_ckv"),
        **_TOKENS,
        **_MLA_CACHES,
        **_TABLE,
        "ckv_scale": Scalar("float32", 0.01, "by which all latent values are multiplied"),
        "kpe_scale": Scalar("float32", 0.02, "by which all rotated values are multiplied"),
    },
    outputs=_MLA_CACHES,
    reference=_mla_reference,
    judge=_judge(_mla_reference, "ckv_cache ckv_sf_cache kpe_cache"),
    constraints=(*_CONSTRAINTS, "ckv_dim % 16 == 0", "kpe_dim % 16 == 0"),
    tolerances=_EXACT,
    init=make_tokens,
    validate=check_tokens,
    extremes=_EXTREMES,
    bytes=_bytes,
    op_type="page",
    description="Quantize latent vectors to nvfp4 and rotated keys to e4m3 into MLA's caches.",
)
