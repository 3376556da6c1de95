"""Kernels with a defect and their correct twins: where check mode must place it, and in which words."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class View:
    """A tensor over the memory of x or y."""

    name: str
    shape: tuple[int, ...]
    strides: tuple[int, ...] = (1,)
    itemsize: int = 4
    offset: int = 0
    memory: str = "x"


@dataclass(frozen=True)
class Defect:
    """`at` and `other_at` are pieces of the lines where the report must place it; `says` are patterns."""

    name: str
    kind: str
    at: str
    says: tuple[str, ...]
    other_at: str = ""
    n: int = 128
    views: tuple[View, ...] = ()
    unseen_by: str = ""


def y_of(*shape: int, itemsize: int = 4) -> View:
    return View("y", shape, itemsize=itemsize, memory="y")


MEMORY = [
    Defect(
        "vector_over_the_end",
        "out-of-bounds",
        "const uint4 values",
        ("read of 16 bytes at byte 2000 of tensor 'x'", "2006 bytes", r"i \+ 8 <= n"),
        n=1003,
        views=(View("x", (1003,), itemsize=2), y_of(1003, itemsize=2)),
    ),
    Defect(
        "write_one_past_the_end",
        "out-of-bounds",
        "if (BUG ? i <= n",
        ("write of 4 bytes at byte 400 of tensor 'y'", "one past the end"),
        n=100,
        views=(View("x", (1024,)), y_of(100)),
    ),
    Defect(
        "read_before_the_start",
        "out-of-bounds",
        "const float left",
        ("4 bytes before tensor 'x'", "a negative index"),
    ),
    Defect(
        "read_between_two_views",
        "out-of-bounds",
        "x[i + n + 4]",
        ("byte 400 of tensor 'left'",),
        n=100,
        views=(View("left", (100,)), View("right", (101,), offset=416), y_of(1024)),
    ),
    Defect(
        "read_in_the_gap_of_a_pitch",
        "out-of-bounds",
        "if (column <",
        (r"byte \d+ of tensor 'x', (between its rows of 240|which has 2032) bytes",),
        views=(View("x", (8, 60), (64, 1)), y_of(1024)),
    ),
    Defect(
        "byte_past_the_end",
        "out-of-bounds",
        "in[i] ?",
        ("read of 1 byte at byte 100 of tensor 'x'",),
        n=100,
        views=(View("x", (100,), itemsize=1), y_of(1024)),
    ),
    Defect(
        "copy_past_the_end",
        "out-of-bounds",
        "memcpy(",
        ("byte 384 of tensor 'x', which has 400 bytes", "over the end"),
        n=100,
        views=(View("x", (100,)), y_of(1024)),
    ),
    Defect(
        "write_to_an_input",
        "read-only",
        "const_cast<float*>(x)[3]",
        (r"write of 4 bytes at element \[3\] of tensor 'x', which is an input", "mutates="),
    ),
    Defect(
        "dynamic_shared_past_the_end",
        "out-of-bounds",
        "buffer[threadIdx.x + ",
        ("byte 512 of dynamic shared memory, which has 512 bytes", "the launch asks for fewer"),
    ),
    Defect(
        "static_shared_past_the_end",
        "out-of-bounds",
        "shifted[threadIdx.x] =",
        ("byte 512 of __shared__ tile, which has 512 bytes",),
    ),
    Defect("local_array_past_the_end", "out-of-bounds", "values[(n & 3)", ("index 4 of", "float")),
    Defect(
        "misaligned_vector",
        "misaligned",
        "const float4 values",
        (r"element \[\d+\] of tensor 'x'", "not aligned to 16 bytes", "scalar path"),
        unseen_by="clang++",  # It checks no alignment where a class is copied.
    ),
    Defect("misaligned_copy", "misaligned", "", ("16 bytes",)),
    Defect("misaligned_ldmatrix", "misaligned", "ldmatrix.sync", ("ldmatrix", "16")),
    Defect(
        "unwritten_static_shared",
        "uninitialised",
        "BUG || has_one",
        (r"read of 4 bytes of which byte \d+ of __shared__ partial has never been written",),
    ),
    Defect(
        "unwritten_dynamic_shared",
        "uninitialised",
        "buffer[127 - threadIdx.x]",
        ("dynamic shared memory has never been written", "guard"),
        n=100,
    ),
    Defect("null_read", "null-pointer", "bias[threadIdx.x + 5]", ("null pointer plus",)),
    Defect(
        "null_write", "null-pointer", "lse[threadIdx.x] =", ("write of 4 bytes", "null pointer")
    ),
    Defect(
        "memory_of_the_api",
        "out-of-bounds",
        "y[threadIdx.x] =",
        ("byte 124 of tensor", "124 bytes"),
    ),
    Defect("memory_that_was_freed", "out-of-bounds", "y[threadIdx.x] =", ("write of 4 bytes",)),
    Defect("stack_overflow", "stack-overflow", "", ("64 KiB",)),
]

RACES = [
    Defect(
        "read_before_the_barrier",
        "race",
        "partial",
        ("of __shared__ partial", r"not separated from the reads by __syncthreads\(\)"),
        "partial",
    ),
    Defect(
        "reuse_before_the_barrier",
        "race",
        "tile[threadIdx.x] = x[round",
        ("write after read", "of __shared__ tile", "used again before all have read it"),
        "sum += tile[127",
    ),
    Defect(
        "two_writers",
        "race",
        "tile[threadIdx.x % 64] = x",
        ("write after write", "two threads write the same memory"),
        "tile[threadIdx.x % 64] = x",
    ),
    Defect("half_precision_neighbours", "race", "tile[", ("of __shared__ tile",), "tile["),
    Defect(
        "missing_syncwarp",
        "race",
        "tile[warp]",
        (r"__syncwarp\(\) is missing",),
        "tile[warp]",
    ),
    Defect(
        "shuffle_as_a_fence",
        "race",
        "tile[",
        ("shuffles and votes do not order memory",),
        "tile[",
    ),
    Defect(
        "syncwarp_of_half_a_warp", "race", "tile[31", (r"__syncwarp\(\)",), "tile[threadIdx.x] ="
    ),
    Defect(
        "global_memory_within_a_block",
        "race",
        "y[",
        ("of tensor 'y'", r"__syncthreads\(\)"),
        "y[",
    ),
    Defect(
        "blocks_write_the_same",
        "race",
        "y[i] =",
        ("write after write", "of tensor 'y'", "two blocks write the same memory"),
        "y[i] =",
    ),
    Defect(
        "missing_threadfence",
        "race",
        "total += y[block]",
        ("of tensor 'y'", r"without __threadfence\(\)"),
        "y[blockIdx.x] = sum",
    ),
    Defect(
        "fence_of_too_small_a_scope",
        "race",
        "y[8] = y[0] + y[1]",
        ("of tensor 'y'", r"without __threadfence\(\)"),
        "y[blockIdx.x] = x",
    ),
    Defect(
        "lock_without_fence",
        "race",
        "y[0] += x",
        ("of tensor 'y'", r"__threadfence\(\)"),
        "y[0] += x",
    ),
    Defect("atomic_and_plain", "race", "", ("one of the two is atomic",)),
    Defect(
        "arrive_before_the_write",
        "race",
        "tile[",
        ("of __shared__ tile",),
        "tile[",
    ),
    Defect("variable_of_the_module", "race", "total +=", ("total",), "total +="),
    Defect("very_many_races", "race", "EIGHT(EIGHT(RACE))", ("of tensor 'y'",)),
    Defect("named_barrier_of_others", "race", "tile[", ("of __shared__ tile",), "tile["),
]

COPIES = [
    Defect(
        "read_before_the_wait",
        "race",
        "tile[255 - threadIdx.x]",
        ("of __shared__ tile", "cp.async.wait_group", "is missing"),
        "ptx::copy_async",
    ),
    Defect(
        "wait_leaves_the_group_pending",
        "race",
        "tile[1][threadIdx.x]",
        ("leaves the group of this copy pending",),
        "ptx::copy_async",
    ),
    Defect(
        "refill_before_the_barrier",
        "race",
        "",
        (r"__syncthreads\(\) is missing before this cp.async",),
    ),
    Defect("wait_without_a_barrier", "race", "tile[threadIdx.x]", ("of __shared__ tile",)),
]

SYNC = [
    Defect("divergent_barrier_across_warps", "divergent-barrier", "__syncthreads()", ("threads",)),
    Defect("divergent_barrier_in_a_warp", "divergent-barrier", "__syncthreads()", ("threads",)),
    Defect("barrier_of_two_counts", "barrier-mismatch", "", ("count its threads",)),
    Defect("barrier_of_too_many", "deadlock", "", ("64 of 96 threads have come",)),
    Defect("early_break", "divergent-barrier", "__syncthreads()", ("threads",)),
    Defect("shuffle_without_half_of_the_warp", "deadlock", "", ("__shfl_down_sync", "0xffff0000")),
    Defect("mask_without_the_caller", "bad-mask", "__shfl_xor_sync", ("0x0000ffff",)),
    Defect("endless_loop", "hang", "", ("nothing changes",)),
    Defect("flag_that_nobody_sets", "hang", "atomicAdd(flags, 0)", ("nothing changes",)),
    Defect("grid_sync_without_a_block", "deadlock", "sync()", (r"grid.sync\(\)",)),
]
