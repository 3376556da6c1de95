"""The model of waves: what it chooses, and what its estimates hold for."""

from __future__ import annotations

import pytest

from fictl.kernels.gemm._choice import choose, prepared, soonest
from fictl.kernels.gemm._tactics import FLOPS_A_CLOCK, LEAST_K, SM80, SM90, TACTICS, Tactic

H200, A100 = 132, 108
SHAPES = [
    (1, 1, 1, 1),
    (1, 8192, 8192, 8192),
    (1, 64, 8192, 8192),
    (1, 3000, 5000, 1111),
    (128, 128, 128, 512),
    (1, 7, 256, 7168),
    (3, 1, 1, 2**20),
]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("backend", TACTICS)
def test_the_choice_is_one_of_the_table(backend: str, shape: tuple[int, ...]) -> None:
    chosen = choose(backend, None, H200, *shape)
    assert chosen._replace(parts=0) in [known.tactic for known in TACTICS[backend]]
    assert chosen.parts >= 1


@pytest.mark.parametrize(
    ("shape", "tile"),
    [
        ((1, 8192, 8192, 8192), (128, 128)),
        ((1, 1, 8192, 8192), (16, 64)),
        ((64, 60, 60, 256), (64, 64)),
    ],
)
def test_tiles_of_sm80(shape: tuple[int, ...], tile: tuple[int, int]) -> None:
    chosen = choose("sm80", None, A100, *shape)
    assert (chosen.tile_m, chosen.tile_n) == tile


@pytest.mark.parametrize("m", [1, 8, 9, 16])
def test_few_tokens_swap_the_operands_of_sm90(m: int) -> None:
    chosen = choose("sm90", None, H200, 1, m, 8192, 8192)
    assert chosen.swap
    assert m <= chosen.tile_n < 2 * max(m, 8)


def test_many_tokens_do_not() -> None:
    assert not choose("sm90", None, H200, 1, 8192, 8192, 8192).swap


def test_k_is_split_where_tiles_leave_sms_empty_and_nowhere_else() -> None:
    assert choose("sm80", None, A100, 1, 16, 256, 7168).parts > 1
    assert choose("sm80", None, A100, 1, 4096, 4096, 4096).parts == 1
    assert choose("sm80", None, A100, 1, 16, 256, 2 * LEAST_K - 1).parts == 1


def test_only_the_tiles_of_the_last_round_are_divided_on_sm90() -> None:
    """Nine tiles on eight SMs: the ninth would take a round by itself."""
    one = SM90[0]._replace(tactic=Tactic(128, 256, "cooperative"))
    tactics = prepared((one,), FLOPS_A_CLOCK["sm90"])
    assert soonest(tactics, 8, 1, 9 * 128, 256, 16384).parts > 1
    assert soonest(tactics, 8, 1, 8 * 128, 256, 16384).parts == 1
    assert soonest(prepared(SM80[:1], 2048), 8, 1, 9 * 128, 128, 16384).parts == 1


def test_parts_that_a_tactic_names_are_kept_and_others_chosen() -> None:
    named = Tactic(128, 128, "mma", parts=5)
    assert choose("sm80", named, A100, 1, 16, 256, 7168) == named
    chosen = choose("sm80", SM80[2].tactic, A100, 1, 16, 256, 7168)
    assert chosen.tile_m == 16
    assert chosen.parts > 1


@pytest.mark.parametrize("rows", [range(1, 9), range(57, 65), range(65, 129)])
def test_rows_that_no_tile_tells_apart_share_a_choice(rows: range) -> None:
    assert len({choose("sm90", None, H200, 1, m, 4096, 4096) for m in rows}) == 1


@pytest.mark.parametrize("waves", [1, 2, 3])
def test_one_tile_more_than_a_wave_is_avoided(waves: int) -> None:
    """Where a second kind of tile fits the last wave, it is taken."""
    whole, half = SM80[0], SM80[0]._replace(tactic=Tactic(64, 128, "mma"), efficiency=0.7)
    sms = 10
    rows = 128 * (sms * waves + 1)
    tactics = prepared((whole, half), FLOPS_A_CLOCK["sm80"])
    fits = soonest(tactics, sms, 1, rows - 128, 128, 8192)
    spills = soonest(tactics, sms, 1, rows, 128, 8192)
    assert fits.tile_m == 128
    assert spills.tile_m == 64


def test_the_first_of_equals_is_taken() -> None:
    twice = (SM80[0], SM80[0]._replace(tactic=SM80[0].tactic._replace(schedule="other")))
    assert soonest(prepared(twice, 2048), 10, 1, 128, 128, 64).schedule == "mma"
