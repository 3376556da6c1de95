from __future__ import annotations

import pytest

from fictl.arch import (
    Arch,
    ArchRule,
    known_gpus,
    parse_archs,
    parse_gencode,
    spell,
    unique,
)
from fictl.errors import InvalidValue


@pytest.mark.parametrize(
    ("token", "arch"),
    [
        ("9.0", Arch(9, 0)),
        ("9.0a", Arch(9, 0, "a")),
        ("90a", Arch(9, 0, "a")),
        ("sm_90a", Arch(9, 0, "a")),
        ("SM_90A", Arch(9, 0, "a")),
        ("compute_103f", Arch(10, 3, "f")),
        ("120", Arch(12, 0)),
        ("12.1a", Arch(12, 1, "a")),
        ("8.0+PTX", Arch(8, 0, ptx=True)),
        ("80+ptx", Arch(8, 0, ptx=True)),
        (" 8.6 ", Arch(8, 6)),
    ],
)
def test_every_spelling_parses(token, arch):
    assert Arch.parse(token) == arch


@pytest.mark.parametrize(
    "token", ["", "9", "9.", "9.0b", "sm90", "8.0-PTX", "1234", "nine", "9.0aa"]
)
def test_what_is_no_architecture_is_quoted(token):
    with pytest.raises(InvalidValue, match="unknown architecture") as caught:
        Arch.parse(token)
    assert repr(token) in caught.value.message
    assert "'9.0a'" in caught.value.hint


@pytest.mark.parametrize("token", ["7.5", "9.0a", "10.0f", "8.0+PTX", "12.1a"])
def test_a_spelt_architecture_parses_back(token):
    assert str(Arch.parse(token)) == token


@pytest.mark.parametrize(
    "text",
    [
        "8.0 9.0a",
        "8.0  9.0a",
        " 8.0 9.0a ",
        "8.0;9.0a",
        "8.0,9.0a",
        "8.0, 9.0a;",
        "80 sm_90a",
        "9.0a 8.0",
        "8.0 9.0a 8.0",
        "8.0\t9.0a\n",
    ],
)
def test_a_list_parses_whatever_separates_and_orders_it(text):
    assert spell(parse_archs(text)) == "8.0 9.0a"


@pytest.mark.parametrize("text", ["", "  ", ";", ", ;"])
def test_a_list_of_nothing_is_empty(text):
    assert parse_archs(text) == ()


def test_a_list_with_a_bad_token_names_that_token_only():
    with pytest.raises(InvalidValue) as caught:
        parse_archs("8.0 90x 9.0a")
    assert "'90x'" in caught.value.message
    assert "9.0a" not in caught.value.message


def test_native_is_what_the_callback_finds():
    assert spell(parse_archs("8.0 Native", lambda: [Arch(9, 0, "a")])) == "8.0 9.0a"


def test_native_is_nothing_where_nobody_knows():
    assert parse_archs("native") == ()


@pytest.mark.parametrize(
    ("token", "flag"),
    [
        ("9.0a", "-gencode=arch=compute_90a,code=sm_90a"),
        ("8.0+PTX", "-gencode=arch=compute_80,code=[sm_80,compute_80]"),
        ("12.0f", "-gencode=arch=compute_120f,code=sm_120f"),
    ],
)
def test_a_gencode_flag_is_written_and_read_back(token, flag):
    arch = Arch.parse(token)
    assert arch.gencode == flag
    assert parse_gencode(flag) == (arch,)


@pytest.mark.parametrize(
    ("flag", "found"),
    [
        ("--generate-code=arch=compute_90a,code=sm_90a", "9.0a"),
        ("-gencode=arch=compute_80,code=[sm_80,sm_86]", "8.0 8.6"),
        ("-gencode=arch=compute_90,code=compute_90", "9.0+PTX"),
        ("-O3", ""),
    ],
)
def test_other_flags_are_read_too(flag, found):
    assert spell(parse_gencode(flag)) == found


@pytest.mark.parametrize(
    ("target", "gpu", "runs"),
    [
        ("8.0", "8.0", True),
        ("8.0", "8.6", True),
        ("8.6", "8.0", False),
        ("8.0", "9.0", False),
        ("8.0+PTX", "9.0", True),
        ("9.0+PTX", "8.0", False),
        ("9.0a", "9.0", True),
        ("10.0a", "10.3", False),
        ("10.0f", "10.3", True),
        ("10.3f", "10.0", False),
        ("10.0f", "12.0", False),
    ],
)
def test_what_runs_where(target, gpu, runs):
    assert Arch.parse(target).runs_on(Arch.parse(gpu)) is runs


@pytest.mark.parametrize(
    ("token", "release"),
    [("10.3a", "12.9"), ("12.0a", "12.8"), ("8.0+PTX", "11.0"), ("11.0a", "13.0"), ("7.0", None)],
)
def test_the_first_release_that_has_a_target_is_known(token, release):
    assert Arch.parse(token).first_cuda == release


@pytest.mark.parametrize(
    ("rule", "target", "selected"),
    [
        (">=8.0", "9.0a", "9.0a"),
        (">=8.0", "7.5", None),
        (">=8.0<10.0", "9.0a", "9.0a"),
        (">=8.0<10.0", "10.0", None),
        ("<9.0", "8.9", "8.9"),
        ("9.0a", "9.0", "9.0a"),
        ("9.0a", "9.0a", "9.0a"),
        ("9.0", "9.0a", "9.0a"),
        ("9.0a", "10.0a", None),
        ("10.0f", "10.3", "10.0f"),
        ("10.0f", "10.3a", "10.3a"),
        ("10.0f 12.0a", "12.0", "12.0a"),
        ("8.0 8.6", "8.6", "8.6"),
        ("8.0 8.6", "8.9", None),
    ],
)
def test_a_rule_selects_what_to_compile_for_a_target(rule, target, selected):
    found = ArchRule.parse(rule).select(Arch.parse(target))
    assert (str(found) if found else None) == selected


@pytest.mark.parametrize(("gpu", "supported"), [("9.0", True), ("8.9", False), ("12.0", False)])
def test_a_rule_supports_the_gpus_it_has_code_for(gpu, supported):
    assert ArchRule.parse("9.0a").supports(Arch.parse(gpu)) is supported


@pytest.mark.parametrize(
    ("rule", "only"),
    [("12.0a", True), ("12.0a 12.1a", True), ("9.0a 12.0a", False), (">=12.0", False)],
)
def test_only_exact_targets_count_as_needing_one_major_version(rule, only):
    assert ArchRule.parse(rule).only_major(12) is only


def test_a_union_of_rules_supports_what_any_of_them_does():
    union = ArchRule.any_of(
        [ArchRule.parse("9.0a"), ArchRule.parse("12.0a"), ArchRule.parse("9.0a")]
    )
    assert (union.supports(Arch(9, 0)), union.supports(Arch(12, 0))) == (True, True)
    assert str(union) == "9.0a 12.0a"


@pytest.mark.parametrize("text", ["", "=>8.0", ">=eight", ">8.0", "8.0..9.0"])
def test_a_rule_that_cannot_be_read_is_an_error(text):
    with pytest.raises(InvalidValue):
        ArchRule.parse(text)


def test_unique_sorts_by_number_and_not_by_text():
    assert spell(unique(map(Arch.parse, ["12.0a", "9.0", "10.0a", "9.0"]))) == "9.0 10.0a 12.0a"


def test_the_gpus_that_exist_are_known_once_each():
    gpus = known_gpus()
    assert Arch(8, 6) in gpus
    assert gpus == unique(gpu.plain for gpu in gpus)


@pytest.mark.parametrize(
    "text",
    [">=99", "<7.0", "<7.5", ">=12.2", ">=9.0<8.0", ">=8.1<8.5", "7.0", "8.0 >=99", ">=8.0>=9.0"],
)
def test_what_no_gpu_is_is_refused_of_an_op(text: str) -> None:
    with pytest.raises(InvalidValue):
        ArchRule.parse(text)


@pytest.mark.parametrize(
    "token", ["9.9", "99.0", "0.0", "1.0", "8.0a", "9.0f", "7.9", "20.0", "sm_99"]
)
def test_what_never_was_and_never_will_be_is_no_architecture(token: str) -> None:
    with pytest.raises(InvalidValue, match="there is no architecture"):
        Arch.parse(token)


@pytest.mark.parametrize("token", ["7.0", "10.1a", "13.0", "13.0a", "15.0"])
def test_what_another_toolkit_may_target_is_one(token: str) -> None:
    assert str(Arch.parse(token)) == token


@pytest.mark.parametrize(
    "token", ["\uff18.\uff10", "8.\u0660", "\u0668\u0660", "8\u00b2", "\uff19\uff10a"]
)
def test_digits_of_other_scripts_are_none(token: str) -> None:
    with pytest.raises(InvalidValue, match="unknown architecture"):
        Arch.parse(token)
    with pytest.raises(InvalidValue):
        ArchRule.parse(f">={token}")
