"""What check mode finds and what it does not: the table of docs/emulation.md, and what holds each row.

A row that says `finds` is held by planted defects and their correct twins, one that says `does not` by
kernels whose defect passes unseen.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Claim:
    """`kind` is what the report is called; empty where nothing is found. `gpu` finds it on a GPU."""

    defect: str
    kind: str
    gpu: str
    kernels: tuple[str, ...]

    def row(self) -> str:
        emulated = f"`{self.kind}`" if self.kind else "no"
        return f"| {self.defect} | {emulated} | {self.gpu} |"


MEMCHECK, RACECHECK, INITCHECK, SYNCCHECK = "memcheck", "racecheck", "initcheck", "synccheck"
NOTHING = "nothing"

CLAIMS = (
    Claim(
        "an access beyond a tensor, before it or between its rows; in a slice, too",
        "out-of-bounds",
        "memcheck, beyond allocations",
        (
            "vector_over_the_end",
            "write_one_past_the_end",
            "read_before_the_start",
            "read_between_two_views",
            "read_in_the_gap_of_a_pitch",
            "byte_past_the_end",
            "copy_past_the_end",
            "share_of_the_last_block",
            "unsigned_below_zero",
            "index_over_31_bits",
        ),
    ),
    Claim(
        "an access to memory of `cudaMalloc` that is too small or freed",
        "out-of-bounds",
        MEMCHECK,
        (
            "memory_of_the_api",
            "memory_that_was_freed",
        ),
    ),
    Claim(
        "an index beyond a local array, a parameter, a constant or a member, by its declared type",
        "out-of-bounds",
        "memcheck, beyond the stack",
        (
            "local_array_past_the_end",
            "array_of_a_parameter",
            "constant_over_its_end",
            "field_of_a_struct_over_its_end",
            "row_of_a_matrix_over_its_end",
            "rows_and_columns_mixed_up",
        ),
    ),
    Claim("the same through a pointer to the array", "", NOTHING, ("local_array_by_a_pointer",)),
    Claim(
        "an access beyond a `__shared__` variable or all of dynamic shared memory",
        "out-of-bounds",
        "memcheck, beyond all shared memory",
        (
            "dynamic_shared_past_the_end",
            "static_shared_past_the_end",
            "dynamic_shared_in_elements",
        ),
    ),
    Claim(
        "an access beyond a part of shared memory [that the kernel names](#parts-of-shared-memory)",
        "out-of-bounds",
        NOTHING,
        (
            "one_part_into_the_next",
            "one_part_into_the_one_before",
            "copy_beyond_its_part",
            "address_beyond_its_part",
            "parts_larger_than_the_whole",
        ),
    ),
    Claim("an access beyond a part that it does not name", "", NOTHING, ("raw_division",)),
    Claim(
        "an index that wraps around and is within the tensor again",
        "",
        NOTHING,
        ("index_that_wraps_into_the_tensor",),
    ),
    Claim("a write to an input", "read-only", NOTHING, ("write_to_an_input",)),
    Claim(
        "a vector access, `cp.async` or `ldmatrix` that is not aligned",
        "misaligned",
        MEMCHECK,
        (
            "misaligned_vector",
            "misaligned_copy",
            "misaligned_ldmatrix",
            "half_vector_misaligned",
            "shared_vector_misaligned",
        ),
    ),
    Claim("a null pointer", "null-pointer", MEMCHECK, ("null_read", "null_write")),
    Claim("a stack that is too small", "stack-overflow", MEMCHECK, ("stack_overflow",)),
    Claim(
        "a read of shared memory that this block has not written",
        "uninitialised",
        NOTHING,
        (
            "unwritten_static_shared",
            "unwritten_dynamic_shared",
            "part_that_nobody_wrote",
        ),
    ),
    Claim(
        "a read of global memory that nobody has written",
        "",
        INITCHECK,
        ("unwritten_global_memory",),
    ),
    Claim(
        "a variable of a thread that is not set on every path",
        "",
        "nothing; nvcc warns",
        ("unwritten_register",),
    ),
    Claim(
        "an element of the output that no thread writes, or a grid that is too small: a test shows it",
        "",
        "initcheck, where it is read",
        (
            "output_that_nobody_writes",
            "grid_that_is_too_small",
        ),
    ),
    Claim(
        "a missing `__syncthreads()`, or one too few",
        "race",
        "racecheck, in shared memory",
        (
            "read_before_the_barrier",
            "reuse_before_the_barrier",
            "two_writers",
            "half_precision_neighbours",
            "global_memory_within_a_block",
            "stencil_in_place",
            "sums_of_the_next_round",
            "part_used_again_too_early",
            "very_many_races",
        ),
    ),
    Claim(
        "a missing `__syncwarp()`, or one whose mask leaves out a lane; a shuffle, vote or reduction in its place",
        "race",
        "racecheck, in shared memory",
        (
            "missing_syncwarp",
            "shuffle_as_a_fence",
            "syncwarp_of_half_a_warp",
            "ballot_as_a_fence",
            "reduction_as_a_fence",
            "syncwarp_without_one_lane",
            "one_lane_adds_up",
        ),
    ),
    Claim(
        "lanes or warps of a block that only `volatile` orders",
        "race",
        "racecheck, in shared memory",
        (
            "volatile_last_warp",
            "volatile_loop",
            "volatile_exchange",
            "volatile_in_global_memory",
            "volatile_by_a_cast",
            "volatile_by_ptx",
            "volatile_broadcast",
            "volatile_scan",
            "volatile_between_warps",
            "volatile_writers",
            "volatile_message_without_fence",
            "plain_write_volatile_read",
        ),
    ),
    Claim(
        "the same where the reader comes back to the place, as if it waited for a flag",
        "",
        "racecheck, in shared memory",
        ("volatile_broadcast_in_a_loop",),
    ),
    Claim("two blocks that only `volatile` orders", "", NOTHING, ("volatile_between_blocks",)),
    Claim(
        "one access atomic, the other plain; a counter set too late or read too early",
        "race",
        "racecheck, in shared memory",
        (
            "atomic_and_plain",
            "counter_set_too_late",
            "counter_read_too_early",
            "histogram_without_atomics",
            "last_block_forgets_to_zero",
            "flag_that_is_not_atomic",
            "lock_taken_by_a_plain_read",
        ),
    ),
    Claim(
        "an atomic of the block (`atomicAdd_block`) where blocks meet",
        "",
        NOTHING,
        ("atomic_of_the_block_alone",),
    ),
    Claim(
        "blocks that meet in global memory, or in a variable of the module",
        "race",
        NOTHING,
        (
            "blocks_write_the_same",
            "variable_of_the_module",
            "block_reads_its_neighbour",
            "phases_without_grid_sync",
        ),
    ),
    Claim(
        "a flag, counter or lock without `__threadfence()`, or with one of too small a scope",
        "race",
        NOTHING,
        (
            "missing_threadfence",
            "fence_of_too_small_a_scope",
            "lock_without_fence",
            "volatile_flag_without_fence",
        ),
    ),
    Claim(
        "`__ldg()` of what the same kernel has written",
        "",
        NOTHING,
        ("read_only_cache_of_what_is_written",),
    ),
    Claim(
        "`cp.async` that is waited for too late, with a wrong count or without a commit; a stage filled too early",
        "race",
        "racecheck, in part",
        (
            "read_before_the_wait",
            "wait_leaves_the_group_pending",
            "refill_before_the_barrier",
            "wait_without_a_barrier",
            "wait_without_commit",
            "three_stages_and_one_too_many",
            "stage_of_another_round",
            "written_under_a_copy",
        ),
    ),
    Claim(
        "a named barrier at the wrong time, or of the wrong threads",
        "race",
        "racecheck, in shared memory",
        (
            "arrive_before_the_write",
            "named_barrier_of_others",
        ),
    ),
    Claim("two kernels on two streams that nothing orders", "", NOTHING, ("two_streams",)),
    Claim(
        "a barrier in a branch or a loop that not all threads take alike",
        "divergent-barrier",
        SYNCCHECK,
        (
            "divergent_barrier_across_warps",
            "divergent_barrier_in_a_warp",
            "early_break",
            "barrier_in_an_uneven_loop",
            "barrier_behind_a_guard",
        ),
    ),
    Claim(
        "a named barrier with two counts, a count that is not a multiple of 32, or two groups of threads",
        "barrier-mismatch",
        "synccheck, in part",
        (
            "barrier_of_two_counts",
            "barrier_count_in_warps",
            "one_barrier_for_two_groups",
        ),
    ),
    Claim(
        "threads that wait for others that never come: at a named barrier, a warp operation, `grid.sync()`",
        "deadlock",
        "nothing: it hangs",
        (
            "barrier_of_too_many",
            "shuffle_without_half_of_the_warp",
            "two_masks_that_wait_for_each_other",
            "grid_sync_without_a_block",
        ),
    ),
    Claim(
        "a warp operation whose mask does not name the lane that calls",
        "bad-mask",
        SYNCCHECK,
        (
            "mask_without_the_caller",
            "activemask_of_a_branch",
            "any_in_a_branch",
            "vote_in_ptx",
        ),
    ),
    Claim(
        "a shuffle from a lane that the mask does not name, or the block does not have",
        "bad-mask",
        NOTHING,
        (
            "exchange_beyond_the_mask",
            "broadcast_from_outside_the_mask",
            "tree_over_more_than_the_mask",
            "tree_over_an_odd_number",
            "lane_missing_in_the_middle",
            "tree_over_a_short_block",
            "shuffle_in_ptx",
        ),
    ),
    Claim(
        "the same by `up` or `down` at the end of a group, where reductions ignore it: NaN in a test",
        "",
        NOTHING,
        ("nonsense_at_the_end_of_a_group",),
    ),
    Claim(
        "a shuffle, reduction, match or matrix instruction that names lanes which return without calling it",
        "bad-mask",
        "synccheck, in part",
        (
            "lanes_that_returned",
            "reduction_over_lanes_that_returned",
            "match_with_lanes_that_returned",
            "lanes_that_never_call",
            "reduction_in_ptx",
            "tile_with_lanes_that_returned",
            "tile_in_a_branch",
            "matrix_without_some_lanes",
        ),
    ),
    Claim(
        "different masks for one warp operation",
        "bad-mask",
        "synccheck, in part",
        (
            "two_masks_of_one_shuffle",
            "two_masks_of_one_ballot",
            "two_masks_of_one_syncwarp",
            "warp_barrier_in_ptx",
        ),
    ),
    Claim(
        "a loop that waits for what nobody does, or has no end",
        "hang",
        "nothing: it hangs",
        (
            "endless_loop",
            "flag_that_nobody_sets",
        ),
    ),
    Claim(
        "blocks that wait for blocks which need not run at the same time",
        "",
        "nothing: it hangs",
        ("barrier_of_blocks_that_may_not_run",),
    ),
    Claim(
        "a launch of no blocks or too many threads, or with more shared memory than a block may have",
        "bad-launch",
        "memcheck (`api-error`)",
        (
            "no_blocks",
            "too_many_threads",
            "more_shared_memory_than_allowed",
            "static_and_dynamic_shared",
        ),
    ),
)

HEAD = "| defect | emulated | on a GPU |\n|---|---|---|"


def table() -> str:
    return "\n".join([HEAD, *(claim.row() for claim in CLAIMS)])
