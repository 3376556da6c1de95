"""Sizes of heads that attention has kernels for, and the reasons against the others.

A size is of queries and keys, or of values. Any multiple of a chunk of 16 bytes is compiled when it
is asked for: tiles in shared memory are padded with zeros to what tensor cores take.
"""

from __future__ import annotations

# 64 rows of queries and two stages of keys take 160 KiB then, of the 163 that a block of sm_80 has.
MOST = 512
# Of longer ones, the frequencies of the rotation take the last of these bytes.
MOST_ROTATED = 480
# The same of decode_fma.cuh, where a warp has lanes for a whole key.
MOST_ON_CUDA_CORES = 256
# Values that one block sums up in its registers. Longer heads of values are shared out to blocks.
MOST_OF_A_BLOCK = 256

_CHUNK_BYTES = 16
_FP4_DIMS = (64, 128, 256)
_OF_A_HALF = 8  # elements that are rotated together, in each half of a head


def value_parts(head_dim_v: int) -> int:
    """Count the blocks that share out one head of values."""
    return -(-head_dim_v // MOST_OF_A_BLOCK)


def padded(dim: int) -> int:
    """Round up to what one step of the tensor cores takes."""
    return -(-dim // 16) * 16


def misfit(head_dim: int, head_dim_v: int, *, kv_bytes: int = 2, rope: bool = False) -> str:
    """Explain why no kernel takes heads of these sizes; "" where one does."""
    multiple = _CHUNK_BYTES // kv_bytes
    for name, dim in (("keys", head_dim), ("values", head_dim_v)):
        if multiple <= dim <= MOST and dim % multiple == 0:
            continue
        fits = f"there are kernels for multiples of {multiple} up to {MOST}"
        why = f"keys of {8 * kv_bytes} bits are copied in chunks of {_CHUNK_BYTES} bytes"
        if dim > MOST:
            why = (
                "their tiles take 160 KiB of the 163 KiB of shared memory that a block of sm_80 has"
            )
        return f"heads of {name} have {dim} elements; {fits}: {why}"
    if rope and (head_dim % (2 * _OF_A_HALF) or head_dim > MOST_ROTATED):
        return (
            f"heads of keys have {head_dim} elements; 'ROPE_LLAMA' rotates heads of multiples of "
            f"{2 * _OF_A_HALF} up to {MOST_ROTATED}, whose halves are whole chunks: rotate others by "
            "apply_rope first"
        )
    return ""


def cuda_cores_misfit(
    head_dim: int, head_dim_v: int, *, kv_bytes: int = 2, rope: bool = False
) -> str:
    """Explain why the kernel on CUDA cores does not take heads that others do; "" where it does."""
    longest = max(head_dim, head_dim_v)
    if longest > MOST_ON_CUDA_CORES:
        return f"heads of {longest}"
    if rope and head_dim % (2 * _CHUNK_BYTES // kv_bytes):
        return f"rotated heads of {head_dim} elements of {8 * kv_bytes} bits"
    return ""


def fp4_misfit(head_dim: int, head_dim_v: int, *, rope: bool = False) -> str:
    """Explain why no kernel takes heads of these sizes of keys of 4 bits; "" where one does."""
    if rope:
        return "'ROPE_LLAMA' rotates keys of 8 or 16 bits: rotate before they are quantized"
    if head_dim == head_dim_v and head_dim in _FP4_DIMS:
        return ""
    sizes = ", ".join(map(str, _FP4_DIMS))
    return f"heads have {head_dim} elements, of values {head_dim_v}; of 4 bits both have {sizes}"
