"""Sizes of heads that attention has kernels for, and the reasons against the others.

A size is of queries and keys, or of values. Any multiple of a chunk of 16 bytes is compiled when it
is asked for: tiles in shared memory are padded with zeros to what tensor cores take.
"""

from __future__ import annotations

# Beyond, the shortest tile of queries and two stages of keys leave a block no shared memory.
MOST = 512
# The same of decode_fma.cuh, where a warp has lanes for a whole key.
MOST_ON_CUDA_CORES = 256
# Values that one block sums up in its registers. Longer heads of values are shared out to blocks.
MOST_OF_A_BLOCK = 256

_CHUNK_BYTES = 16
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
        if dim < multiple or dim > MOST or dim % multiple:
            return (
                f"heads of {name} have {dim} elements; there are kernels for multiples of "
                f"{multiple} up to {MOST}: keys of {8 * kv_bytes} bits are copied in chunks of "
                f"{_CHUNK_BYTES} bytes, and more leave a block no room in shared memory"
            )
    if rope and head_dim % (2 * _OF_A_HALF):
        return (
            f"heads of keys have {head_dim} elements; 'ROPE_LLAMA' rotates heads of multiples of "
            f"{2 * _OF_A_HALF}, whose halves are whole chunks: rotate others by apply_rope first"
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
