from __future__ import annotations

import pytest


def uses(tree, family: str, module: str, used: str) -> None:
    tree.op(family, module)
    tree.edit(f"kernels/{family}/{module}/op.py", 'mutates="out"', f'mutates="out", uses="{used}"')


def test_a_name_defined_twice_is_a_problem_of_the_second(tree, problems) -> None:
    tree.op("norm", "halve")
    first = tree.root / "kernels/elementwise/halve/op.py"
    assert problems() == [f"unique kernels/norm/halve/op.py:6 halve is also in {first}"]


def test_what_is_used_is_an_op_of_this_project_or_of_ours(tree, problems) -> None:
    uses(tree, "norm", "rms", "halve scale")
    assert problems() == []


def test_what_is_used_and_unknown_is_a_problem(tree, problems) -> None:
    uses(tree, "norm", "rms", "halv")
    assert problems() == ["uses kernels/norm/rms/op.py:6 rms uses 'halv': no op"]


@pytest.mark.parametrize("length", [2, 3])
def test_a_cycle_is_one_problem(tree, problems, length: int) -> None:
    ring = [f"op{index}" for index in range(length)]
    for module, used in zip(ring, ring[1:] + ring[:1], strict=True):
        uses(tree, "norm", module, used)
    way = " -> ".join([*ring, ring[0]])
    assert problems() == [f"uses kernels/norm/op0/op.py:1 ops use each other: {way}"]


def test_two_that_use_a_third_are_no_cycle(tree, problems) -> None:
    uses(tree, "norm", "a", "halve")
    uses(tree, "norm", "b", "a halve")
    assert problems() == []


def test_a_module_may_use_its_own_functions(tree, problems) -> None:
    uses(tree, "norm", "a", "a")
    assert problems() == []
