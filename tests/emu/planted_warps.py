"""The same for what lanes of a warp do, for the parts of shared memory, and for more of each kind."""

from __future__ import annotations

from .planted import Defect, View, y_of

LANES = [
    Defect("volatile_last_warp", "race", "sums[lane] +=", ("of __shared__ sums",), "sums[lane] +="),
    Defect("volatile_loop", "race", "sums[lane] +=", ("of __shared__ sums",), "sums[lane] +="),
    Defect("volatile_exchange", "race", "tile[", ("volatile",), "tile["),
    Defect("volatile_in_global_memory", "race", "out[", ("of tensor 'y'",), "out["),
    Defect("volatile_by_a_cast", "race", "tile[", ("of __shared__ tile",), "tile["),
    Defect("volatile_by_ptx", "race", "asm volatile", ("of __shared__ tile",), "asm volatile"),
    Defect("volatile_broadcast", "race", "value[warp]", ("of __shared__ value",), "value[warp]"),
    Defect("volatile_scan", "race", "values[lane", ("of __shared__ values",), "values[lane"),
    Defect("volatile_between_warps", "race", "tile[", ("volatile",), "tile["),
    Defect("volatile_writers", "race", "tile[threadIdx.x / 2] =", ("write after write",)),
    Defect(
        "volatile_message_without_fence", "race", "message", ("of __shared__ message",), "message ="
    ),
    Defect("plain_write_volatile_read", "race", "tile", ("of __shared__ tile",), "tile"),
    Defect("ballot_as_a_fence", "race", "tile[", ("of __shared__ tile",), "tile["),
    Defect("reduction_as_a_fence", "race", "tile[", ("of __shared__ tile",), "tile["),
    Defect("syncwarp_without_one_lane", "race", "tile[", ("of __shared__ tile",), "tile["),
    Defect("one_lane_adds_up", "race", "tile", ("of __shared__ tile",), "tile"),
    Defect("counter_set_too_late", "race", "count", ("of __shared__ count",), "count"),
    Defect("counter_read_too_early", "race", "count", ("of __shared__ count",), "count"),
    Defect(
        "histogram_without_atomics", "race", "++bins[bin]", ("of __shared__ bins",), "++bins[bin]"
    ),
]

MASKS = [
    Defect(
        "exchange_beyond_the_mask",
        "bad-mask",
        "__shfl_xor_sync",
        (r"0x0000ffff: lane \d+ reads lane \d+, which the mask does not name",),
    ),
    Defect(
        "broadcast_from_outside_the_mask",
        "bad-mask",
        "__shfl_sync",
        (r"0xfffffffe: lane \d+ reads lane 0, which the mask does not name",),
    ),
    Defect(
        "tree_over_more_than_the_mask",
        "bad-mask",
        "__shfl_down_sync",
        (r"0x0000ffff: lane 0 reads lane 16",),
    ),
    Defect(
        "tree_over_an_odd_number",
        "bad-mask",
        "__shfl_down_sync",
        (r"0x000fffff: lane \d+ reads lane [23]\d",),
    ),
    Defect("lane_missing_in_the_middle", "bad-mask", "__shfl_up_sync", ("lane 8 reads lane 7",)),
    Defect(
        "tree_over_a_short_block",
        "bad-mask",
        "__shfl_down_sync",
        ("lane 0 reads lane 16, which the block does not have",),
    ),
    Defect(
        "lanes_that_returned",
        "bad-mask",
        "__shfl_xor_sync",
        ("0xffffffff, which names lanes 20-31: returned without calling it",),
        n=20,
    ),
    Defect(
        "reduction_over_lanes_that_returned",
        "bad-mask",
        "__reduce_add_sync",
        ("lanes 20-31: returned without calling it",),
    ),
    Defect(
        "match_with_lanes_that_returned",
        "bad-mask",
        "__match_any_sync",
        ("lane 31: returned without calling it",),
    ),
    Defect(
        "lanes_that_never_call",
        "bad-mask",
        "__shfl_xor_sync",
        ("lanes 1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31: returned without calling it",),
    ),
    Defect(
        "two_masks_of_one_shuffle",
        "bad-mask",
        "__shfl_xor_sync",
        ("0xffffffff, which names lanes 0-15: called there with the mask 0x0000ffff",),
    ),
    Defect(
        "two_masks_of_one_ballot",
        "bad-mask",
        "__ballot_sync",
        ("0xffffffff, which names lanes 0-15: called there with the mask 0x0000ffff",),
    ),
    Defect(
        "two_masks_of_one_syncwarp",
        "bad-mask",
        "__syncwarp",
        ("0xffffffff, which names lanes 0-15: called there with the mask 0x0000ffff",),
    ),
    Defect(
        "two_masks_that_wait_for_each_other",
        "deadlock",
        "__ballot_sync",
        ("wait at __ballot_sync with mask 0xffffffff", "for lanes 0xffff0000"),
    ),
    Defect(
        "activemask_of_a_branch",
        "bad-mask",
        "__shfl_xor_sync",
        (r"0x000fffff, which does not name the calling lane \d+",),
    ),
    Defect(
        "any_in_a_branch",
        "bad-mask",
        "__any_sync",
        (r"0x0000000f, which does not name the calling lane \d",),
    ),
    Defect(
        "shuffle_in_ptx",
        "bad-mask",
        "asm volatile",
        (r"shfl.sync.bfly .*0x0000ffff: lane \d+ reads lane",),
    ),
    Defect(
        "reduction_in_ptx", "bad-mask", "asm volatile", ("redux.sync .* lanes 24-31: returned",)
    ),
    Defect(
        "vote_in_ptx",
        "bad-mask",
        "",
        ("vote.sync .*0xfffffff0, which does not name the calling lane",),
    ),
    Defect(
        "warp_barrier_in_ptx",
        "bad-mask",
        "asm volatile",
        ("bar.warp.sync .* lanes 0-15: called there",),
    ),
    Defect(
        "tile_with_lanes_that_returned", "bad-mask", "tile.shfl_xor", ("lanes 30-31: returned",)
    ),
    Defect("tile_in_a_branch", "bad-mask", "cg::reduce", ("lanes (8|24)-(15|31): returned",)),
    Defect(
        "matrix_without_some_lanes",
        "bad-mask",
        "asm volatile",
        ("movmatrix.* lanes 16-31: returned",),
    ),
]

PARTS = [
    Defect(
        "one_part_into_the_next",
        "out-of-bounds",
        "values[threadIdx.x + ",
        (
            "at byte 256 of part 'values' of shared memory, which has 256 bytes: it goes to byte 0 of part 'counts'",
        ),
    ),
    Defect(
        "one_part_into_the_one_before",
        "out-of-bounds",
        "sums[static_cast",
        ("at byte -4 of part 'sums' .*: it goes to byte 252 of part 'values'",),
    ),
    Defect(
        "copy_beyond_its_part",
        "out-of-bounds",
        "ptx::copy_async",
        ("cp.async of 16 bytes at byte 256 of part 'queries' .* byte 0 of part 'tile'",),
    ),
    Defect(
        "address_beyond_its_part",
        "out-of-bounds",
        "asm volatile",
        ("byte 128 of part 'values'",),
    ),
    Defect(
        "parts_larger_than_the_whole",
        "out-of-bounds",
        'take<float>("sums"',
        ("part 'sums' of 260 bytes at byte 256 of dynamic shared memory, which has 512 bytes",),
    ),
    Defect("part_used_again_too_early", "race", "counts[threadIdx.x] =", ("of part ",), "tile[63"),
    Defect(
        "part_that_nobody_wrote", "uninitialised", "values[threadIdx.x] + sums", ("of part 'sums'",)
    ),
]

MORE = [
    Defect(
        "share_of_the_last_block",
        "out-of-bounds",
        "y[i] = x[i]",
        (r"byte 4\d\d of tensor 'x'",),
        n=100,
        views=(View("x", (100,)), y_of(1024)),
    ),
    Defect(
        "unsigned_below_zero",
        "out-of-bounds",
        "y[threadIdx.x] = x[left]",
        ("no tensor, no variable",),
    ),
    Defect("index_over_31_bits", "out-of-bounds", "x[", ("no tensor, no variable",)),
    Defect(
        "half_vector_misaligned",
        "misaligned",
        "pairs[threadIdx.x]",
        ("not aligned to 4 bytes",),
        unseen_by="clang++",
    ),
    Defect(
        "shared_vector_misaligned",
        "misaligned",
        "pair->x",
        ("__shared__ tile", "not aligned to 8 bytes"),
        unseen_by="clang++",
    ),
    Defect(
        "row_of_a_matrix_over_its_end",
        "out-of-bounds",
        "tile[row][column",
        (r"index 33 of .*float",),
    ),
    Defect(
        "rows_and_columns_mixed_up",
        "out-of-bounds",
        "tile[column][row]",
        (r"index \d+ of .*float",),
    ),
    Defect("array_of_a_parameter", "out-of-bounds", "weights.values", (r"index \d+ of .*float",)),
    Defect(
        "constant_over_its_end", "out-of-bounds", "table[threadIdx.x", (r"index \d+ of .*float",)
    ),
    Defect(
        "field_of_a_struct_over_its_end",
        "out-of-bounds",
        "storage.sums[threadIdx.x] =",
        ("index 8 of",),
    ),
    Defect("stencil_in_place", "race", "y[threadIdx.x", ("of tensor 'y'",), "y[threadIdx.x"),
    Defect("barrier_in_an_uneven_loop", "divergent-barrier", "__syncthreads()", ("threads",)),
    Defect("barrier_behind_a_guard", "divergent-barrier", "__syncthreads()", ("threads",)),
    Defect("one_barrier_for_two_groups", "barrier-mismatch", "", ("named barrier 1",)),
    Defect("barrier_count_in_warps", "barrier-mismatch", "", ("a barrier for 2 threads",)),
    Defect(
        "sums_of_the_next_round",
        "race",
        "mine[threadIdx.x / 32] =",
        ("write after read",),
        "mine[0]",
    ),
    Defect(
        "wait_without_commit",
        "race",
        "tile[threadIdx.x]",
        ("of __shared__ tile",),
        "ptx::copy_async",
    ),
    Defect(
        "three_stages_and_one_too_many",
        "race",
        "tile[round % 3][127",
        ("of __shared__ tile",),
        "ptx::copy_async",
    ),
    Defect("stage_of_another_round", "race", "", ("of __shared__ tile",)),
    Defect(
        "written_under_a_copy", "race", "tile[0] = 0.0f", ("of __shared__ tile",), "ptx::copy_async"
    ),
    Defect("block_reads_its_neighbour", "race", "y[", ("of tensor 'y'",), "y["),
    Defect("last_block_forgets_to_zero", "race", "", ("of tensor 'flags'",)),
    Defect("flag_that_is_not_atomic", "race", "", ("of tensor 'flags'",)),
    Defect("volatile_flag_without_fence", "race", "y[1] = y[0]", ("of tensor 'y'",), "y[0] = x[0]"),
    Defect("phases_without_grid_sync", "race", "y[", ("of tensor 'y'",), "y["),
    Defect("lock_taken_by_a_plain_read", "race", "flags[0]", ("of tensor 'flags'",), "flags[0]"),
    Defect("no_blocks", "bad-launch", "", (r"grid \(0, 1, 1\)", "a dimension of zero")),
    Defect("too_many_threads", "bad-launch", "", ("more than 1024 threads",)),
    Defect(
        "more_shared_memory_than_allowed",
        "bad-launch",
        "",
        ("60000 bytes of dynamic shared memory",),
    ),
    Defect(
        "static_and_dynamic_shared",
        "bad-launch",
        "",
        ("32768 bytes of __shared__ variables and 32768 of dynamic",),
    ),
    Defect(
        "dynamic_shared_in_elements",
        "out-of-bounds",
        "tile[threadIdx.x] =",
        (r"byte \d+ of dynamic shared memory, which has 128 bytes",),
    ),
]
