"""What is planned: all that is seen and nothing twice, evenly, and as long as there is room."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest
import torch

from fictl.kernels.attention._plan.lengths import Lengths

from .planner import Item, Plan, end_of, indptr, plan, plan_of


@pytest.fixture
def random(request: pytest.FixtureRequest) -> Random:
    return Random(f"{request.config.option.fictl_seed} {request.node.name}")


def _lengths(random: Random, count: int, most: int) -> list[int]:
    """Few of one, many of another kind."""
    return [
        random.choice((0, 1, random.randrange(most), random.randrange(most))) for _ in range(count)
    ]


def _options(random: Random) -> dict[str, int]:
    return {
        "rows": random.choice((16, 64, 128)),
        "group": random.randint(1, 9),
        "kv_heads": random.choice((1, 2, 8, 32)),
        "slots": random.choice((1, 7, 132, 264)),
        "causal": random.random() < 0.5,
        "window_left": random.choice((-1, -1, 0, 5, 200)),
        "fixed_split": random.choice((0, 0, 0, 100, 256)),
        "split": random.random() < 0.8,
    }


def _seen(q_len: int, kv_len: int, options: dict[str, int]) -> torch.Tensor:
    """(packed rows, keys)."""
    own = torch.arange(q_len)[:, None] + kv_len - q_len
    key = torch.arange(kv_len)
    seen = torch.ones(q_len, kv_len, dtype=torch.bool)
    if options["causal"]:
        seen &= key <= own
    if options["window_left"] >= 0:
        seen &= key >= own - options["window_left"]
    return seen.repeat_interleave(options["group"], 0)


def _check_coverage(
    made: Plan, q_lens: Sequence[int], kv_lens: Sequence[int], options: dict[str, int]
) -> None:
    for request, (q_len, kv_len) in enumerate(zip(q_lens, kv_lens, strict=True)):
        seen = _seen(q_len, kv_len, options)
        done = torch.zeros(seen.shape, dtype=torch.int32)
        touched = torch.zeros(len(seen), dtype=torch.bool)
        for item in (each for each in made.work if each.request == request):
            assert (item.q_len, item.kv_len) == (q_len, kv_len)
            rows = slice(item.row, item.row + options["rows"])
            done[rows, item.begin : item.end] += 1
            touched[rows] = True
            if item.begin < item.end:
                assert bool(seen[rows, item.begin].any() or item.partial >= 0)
                assert bool(seen[rows, item.end - 1].any() or item.partial >= 0)
        assert bool((done[seen] == 1).all())
        assert int(done.max() if done.numel() else 0) <= 1
        assert bool(touched.all())


def _check_parts(made: Plan, options: dict[str, int]) -> None:
    """Merges have the items' parts, each row of the partial results once."""
    places = torch.zeros(made.counts.partial_rows, dtype=torch.int32)
    merges = [each for each in made.merges if each.rows]
    for merge in merges:
        parts = [
            item for item in made.work if (item.request, item.row) == (merge.request, merge.row)
        ]
        rows = min(options["rows"], merge.q_len * options["group"] - merge.row)
        assert merge.rows == rows
        assert [each.partial for each in parts] == [
            merge.partial + rows * part for part in range(merge.parts)
        ]
        assert len(parts) >= 2
        assert [each.end for each in parts[:-1]] == [each.begin for each in parts[1:]]
        assert all((each.q_start, each.kv_len) == (merge.q_start, merge.kv_len) for each in parts)
        places[merge.partial : merge.partial + rows * merge.parts] += 1
    assert sum(merge.parts for merge in merges) == sum(item.partial >= 0 for item in made.work)
    assert int(places.max() if len(places) else 0) <= 1


@pytest.mark.parametrize("number", range(24))
def test_what_is_seen_is_planned_once(number: int, random: Random) -> None:
    options = _options(random)
    count, most = random.choice(((1, 3000), (5, 700), (30, 60)))
    q_lens, kv_lens = _lengths(random, count, most // 3), _lengths(random, count, most)
    made = plan_of(q_lens, kv_lens, **options)
    _check_coverage(made, q_lens, kv_lens, options)
    _check_parts(made, options)
    assert made.counts.query_end == sum(q_lens)
    assert made.counts.key_end == sum(kv_lens)


@pytest.mark.parametrize("number", range(8))
def test_a_plan_with_parts_is_no_slower_than_one_without(number: int, random: Random) -> None:
    heads, slots = random.choice((1, 2, 8, 32)), random.choice((132, 264, 528))
    count, most = random.choice(((1, 200_000), (7, 20_000), (60, 5000), (300, 2000)))
    kv_lens = [random.randrange(1, most) for _ in range(count)]
    ends = []
    for split in (True, False):
        made = plan_of([1] * count, kv_lens, kv_heads=heads, slots=slots, split=split)
        ends.append(end_of(made, heads, slots))
    (parts, best), (whole, _) = ends
    # The planner compares latest ends, not these: of 1500 drawn batches 4 lost 0.7 to 2.2 %.
    assert parts <= 1.05 * whole
    assert parts <= max(2.1 * best, 600)


# The issue's: requests, keys of each, heads of keys; slots as on an H200.
@pytest.mark.parametrize(
    ("count", "keys", "heads", "slots"),
    [
        (64, 8192, 8, 264),
        (16, 4096, 8, 264),
        (1, 131072, 8, 264),
        (16, 2048, 32, 528),
        (256, 1024, 8, 264),
    ],
)
def test_decoding_fills_the_gpu(count: int, keys: int, heads: int, slots: int) -> None:
    made = plan_of([1] * count, [keys] * count, kv_heads=heads, slots=slots)
    end, best = end_of(made, heads, slots)
    assert end <= 1.09 * best


@pytest.mark.parametrize(
    ("count", "tokens", "group", "heads"),
    [(2, 8192, 1, 16), (1, 16384, 1, 16), (8, 2048, 1, 16), (4, 4096, 4, 8)],
)
@pytest.mark.parametrize("slots", [132, 264])
def test_prefill_that_fills_the_gpu_is_not_split(
    count: int, tokens: int, group: int, heads: int, slots: int
) -> None:
    made = plan_of(
        [tokens] * count,
        [tokens] * count,
        rows=128,
        group=group,
        kv_heads=heads,
        slots=slots,
        causal=True,
    )
    assert not made.merges
    end, best = end_of(made, heads, slots)
    assert end <= 1.06 * best


def test_one_long_request_among_many_is_split_alone() -> None:
    made = plan_of([1] * 200, [1024] * 199 + [131072])
    assert [merge.request for merge in made.merges] == [199]
    end, best = end_of(made, 8, 264)
    assert end <= 1.1 * best


def test_a_chunk_of_a_long_prompt_is_split() -> None:
    made = plan_of([16], [32768], rows=64, causal=True)
    assert len(made.merges) == 1
    assert len(made.items) == 32


def test_the_longest_comes_first(random: Random) -> None:
    kv_lens = [random.randrange(3000) for _ in range(50)]
    made = plan_of([1] * 50, kv_lens, split=False)
    assert [item.kv_len for item in made.items] == sorted(kv_lens, reverse=True)


def test_tiles_of_a_request_stay_together_from_the_last_down_and_the_last_requests_mix() -> None:
    made = plan_of([2048] * 8, [2048] * 8, rows=128, group=1, kv_heads=16, causal=True)
    first = made.items[:96]
    assert [item.request for item in first] == sorted(item.request for item in first)
    assert [item.row for item in first[:16]] == [*range(1920, -1, -128)]
    lengths = [item.end - item.begin for item in made.items[-32:]]
    assert lengths == sorted(lengths, reverse=True)


def test_fixed_parts_do_not_depend_on_the_batch(random: Random) -> None:
    mine = plan_of([3], [1000], fixed_split=192)
    others = [random.randrange(4000) for _ in range(20)]
    made = plan_of([1] * 20 + [3], [*others, 1000], fixed_split=192)
    assert [(i.begin, i.end) for i in made.work if i.request == 20] == [
        (i.begin, i.end) for i in mine.work
    ]
    assert [i.end - i.begin for i in mine.work] == [192] * 5 + [40]


def test_bytes_of_masks_begin_anew_for_each_request() -> None:
    made = plan_of([3, 0, 2, 5], [3, 5, 4, 1], custom_mask=True)
    found = {item.request: item.mask for item in made.items}
    assert found == {0: 0, 2: 2, 3: 3}
    assert made.counts.mask_end == 4


@pytest.mark.parametrize("q_len", [0, 1, 3])
def test_one_number_of_queries_needs_no_offsets(q_len: int) -> None:
    keys = [100, 0, 7]
    even = plan(Lengths(3, indptr(keys), q_len=q_len))
    assert even == plan_of([q_len] * 3, keys)


def test_pages_are_counted_with_the_last_one() -> None:
    pages = Lengths(
        3,
        indptr([3, 0, 1]),
        q_len=1,
        page_size=16,
        last_page_len=torch.tensor([5, 9, 16], dtype=torch.int32),
    )
    found = sorted((i.request, i.kv_start, i.kv_len, i.end) for i in plan(pages).items)
    assert found == [(0, 0, 37, 37), (1, 3, 0, 0), (2, 3, 16, 16)]
    assert plan(pages).counts.key_end == 4


def test_said_lengths_take_the_place_of_the_last_pages() -> None:
    lens = torch.tensor([33, 0, 2], dtype=torch.int32)
    said = Lengths(3, indptr([3, 1, 1]), q_len=1, page_size=16, kv_lens=lens)
    assert sorted((i.request, i.kv_len) for i in plan(said).items) == [(0, 33), (1, 0), (2, 2)]


def test_nothing_is_a_plan_without_items() -> None:
    for made in (plan_of([], []), plan_of([0, 0], [5, 0])):
        assert made.items == made.merges == []


@pytest.mark.parametrize("number", range(8))
def test_with_room_every_plan_has_one_size(number: int, random: Random) -> None:
    options = {**_options(random), "fixed_split": 0, "window_left": -1}
    requests, queries = random.choice(((1, 700), (5, 5), (9, 300)))
    sizes = set()
    for _ in range(8):
        cuts = sorted(random.randrange(queries + 1) for _ in range(requests))
        q_lens = [b - a for a, b in zip([0, *cuts[:-1]], cuts, strict=True)]
        kv_lens = [random.choice((0, 1, 100, 40_000, 300_000)) for _ in range(requests)]
        made = plan_of(q_lens, kv_lens, most_queries=queries, **options)
        sizes.add((len(made.items), len(made.merges), made.counts.partial_rows))
        _check_parts(made, options)
        padding = Item(-1, 0, 0, 0, 0, 0, 0, 0, -1, 0)
        assert made.items[len(made.work) :] == [padding] * (len(made.items) - len(made.work))
    assert len(sizes) == 1


@pytest.mark.parametrize(
    ("lengths", "options", "said"),
    [
        (
            Lengths(2, indptr([1, 1]), torch.tensor([0, 3, 2]).int()),
            {},
            "'qo_indptr' goes from 3 to 2 at request 1; .* never falls",
        ),
        (Lengths(1, indptr([1]), torch.tensor([-1, 3]).int()), {}, "'qo_indptr' goes from 0 to -1"),
        (
            Lengths(2, torch.tensor([0, 9, 8]).int()),
            {},
            "'kv_indptr' goes from 9 to 8 at request 1",
        ),
        (
            Lengths(2, indptr([1, 1]), page_size=4, last_page_len=torch.tensor([4, 5]).int()),
            {},
            "'last_page_len' is 5 at request 1; it is 1 to page_size, which is 4",
        ),
        (
            Lengths(1, indptr([2]), page_size=4, last_page_len=torch.tensor([0]).int()),
            {},
            "'last_page_len' is 0 at request 0",
        ),
        (
            Lengths(1, indptr([2]), page_size=4, kv_lens=torch.tensor([9]).int()),
            {},
            "'seq_lens' is 9 at request 0, whose pages hold 0 to 8 keys",
        ),
        (
            Lengths(1, indptr([2**30]), page_size=4, last_page_len=torch.tensor([4]).int()),
            {},
            "needs the number 4294967296; .* int32",
        ),
        (
            Lengths(1, indptr([60_000]), q_len=400_000),
            {"custom_mask": True},
            "needs the number 3000000000",
        ),
        (Lengths(1, indptr([5]), q_len=2**30), {}, "needs the number 4294967296"),
        (
            Lengths(1, indptr([5]), indptr([9])),
            {"most_queries": 8},
            "'qo_indptr' has 9 queries; the first .* had 8",
        ),
        (
            Lengths(1, indptr([10**6])),
            {"most_queries": 1, "fixed_split": 64},
            "has 15625 items .* room for 133; leave fixed_split_size out",
        ),
        (
            Lengths(1, indptr([10**6])),
            {"most_queries": 1, "fixed_split": 64, "rows": 64},
            "has 15625 items .* room for 67; leave fixed_split_size out",
        ),
    ],
)
def test_what_is_no_batch_is_refused(lengths: Lengths, options: dict[str, int], said: str) -> None:
    with pytest.raises(ValueError, match=f"^op: .*{said}"):
        plan(lengths, **options)
