"""Names that can stand in Python, in C++ and on a disk, and what is said of the others."""

from __future__ import annotations

import pytest

from fictl.errors import UsageError
from fictl.scaffold.new.names import (
    check_axis,
    check_family,
    check_op,
    check_parameter,
    check_project,
    snake,
    title,
)


@pytest.mark.parametrize(
    ("name", "why", "instead"),
    [
        ("class", "Python has a keyword", "class_op"),
        ("match", "Python has a keyword", "match_op"),
        ("template", r"C\+\+ has a keyword", "template_op"),
        ("threadIdx", "CUDA or C has something", "thread_idx"),
        ("exp", "CUDA or C has something", "exp_op"),
        ("main", "CUDA or C has something", "main_op"),
        ("rope-scale", "not an identifier", "rope_scale"),
        ("2fast", "not an identifier", "op_2_fast"),
        ("größe", "not an identifier", ""),
        ("", "empty", "my_op"),
        ("_hidden", "a leading", "hidden"),
        ("a__b", "a double", "a_b"),
        ("kernel", "something else", "kernel_op"),
        ("RopeScale", "lower case", "rope_scale"),
    ],
)
def test_an_op_that_cannot_be_called_so_gets_another_name(
    name: str, why: str, instead: str
) -> None:
    with pytest.raises(UsageError, match=why) as caught:
        check_op(name)
    assert instead in caught.value.hint


def test_an_op_that_is_there_is_not_written_twice() -> None:
    with pytest.raises(UsageError, match="there is an op 'scale' already") as caught:
        check_op("scale", ["scale"])
    assert "--force" in caught.value.hint


@pytest.mark.parametrize("other", ["Rope_Scale", "RopeScale", "ropeScale"])
def test_a_clash_in_case_is_one_on_some_disks(other: str) -> None:
    with pytest.raises(UsageError, match="case or '_' only"):
        check_op("rope_scale", [other])


@pytest.mark.parametrize("family", ["ops", "include", "binding", "cmake", "Norm", "import"])
def test_a_family_that_means_something_else_is_refused(family: str) -> None:
    with pytest.raises(UsageError, match="cannot name a family"):
        check_family(family)


@pytest.mark.parametrize("name", ["torch", "launch", "T", "half", "lambda", "min"])
def test_an_argument_that_would_hide_something_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="cannot name an argument"):
        check_parameter(name)


def test_an_axis_may_have_a_name_that_an_argument_may_not() -> None:
    assert check_axis("rows") == "rows"
    with pytest.raises(UsageError, match="cannot name an axis"):
        check_axis("for")


def test_titles_and_back() -> None:
    assert title("rope_scale") == "RopeScale"
    assert snake("RopeScale") == "rope_scale"
    assert snake("RMSNorm2") == "rms_norm2"


@pytest.mark.parametrize("name", ["fused3", "topk2", "conv2d", "my_op", "a1_b2"])
def test_a_name_that_can_stay_stays(name: str) -> None:
    assert snake(name) == name


@pytest.mark.parametrize(
    "name",
    ["nan", "inf", "true", "class", "int", "len", "None", "match", "float4", "n" * 65, "\uff4e"],
)
def test_a_parameter_is_nothing_that_python_or_cpp_has(name: str) -> None:
    with pytest.raises(UsageError, match="cannot name an argument"):
        check_parameter(name)


@pytest.mark.parametrize(
    "check", [check_op, check_family, check_project, check_parameter, check_axis]
)
def test_a_name_of_300_letters_is_refused_in_a_short_line(check) -> None:
    with pytest.raises(UsageError, match="it has 300 letters, and 64 are the most") as caught:
        check("n" * 300)
    assert len(str(caught.value)) < 400
