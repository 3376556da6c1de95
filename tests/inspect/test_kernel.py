"""What is known of a kernel, and its way through the cache."""

from __future__ import annotations

import json

from fictl.inspect.instruction import SassInstruction, SourcePlace
from fictl.inspect.kernel import InspectedKernel, counted

HIDDEN = "_ZN37_GLOBAL__N__{}_5_ni_cu_3fddc4013twoIfEEvPT_PKS1_i"


def test_a_kernel_comes_back_from_json_as_it_was(kernel) -> None:
    before = kernel()
    assert InspectedKernel.from_json(json.loads(json.dumps(before.to_json()))) == before


def test_names_are_those_that_people_read(kernel) -> None:
    assert kernel().name == "a::copy"
    assert kernel(mangled=HIDDEN.format("3dd639cf")).name == "(anonymous namespace)::two<float>"


def test_an_anonymous_namespace_is_the_same_one_after_an_edit(kernel) -> None:
    one, other = (kernel(mangled=HIDDEN.format(text)) for text in ("3dd639cf", "00000000"))
    assert one.identity == other.identity
    assert one.identity != kernel().identity


def test_spills_that_nobody_said_are_not_none(kernel) -> None:
    assert kernel(spill_stores=4, spill_loads=8).spill_bytes == 12
    assert kernel(spill_stores=None, spill_loads=None).spill_bytes is None


def test_instructions_are_counted_and_the_first_is_kept() -> None:
    code = [
        SassInstruction(0, "STL", "STL [R1], R4", SourcePlace("a.cuh", 3)),
        SassInstruction(16, "STL", "STL [R1+4], R5", SourcePlace("a.cuh", 4)),
    ]
    (found,) = counted(code).values()
    assert (found.count, found.text, found.place) == (2, "STL [R1], R4", SourcePlace("a.cuh", 3))
