"""Source places of PTX, with calls that are inlined in one another."""

from __future__ import annotations

import pytest

from fictl.jit.gate.ptx_places import PtxPlaces

_PTX = """//
.version 9.0
.target sm_90a
.func (.param .b32 r) declared(
);
\t.visible .entry ignored
.visible .entry kernel(
\t.param .u64 p
)
.maxntid 128, 1, 1
{
\t.loc\t1 40 0
\tmov.u32 %r1, 1;
\t.loc\t1 44 3
\t.loc\t1 20 5, function_name $L0, inlined_at 1 44 3
\t.loc\t2 7 9, function_name $L1, inlined_at 1 20 5
\twgmma.mma_async.sync.aligned;
\t.loc\t1 46 3
\tsetmaxnreg.dec.sync.aligned.u32 24;
}
.weak .func  (.param .b32 r) called(
)
{
\t.loc\t1 60 1
\tret;
}
.visible .entry bound()
.maxntid 128, 1, 1
.minnctapersm 1
{
\tsetmaxnreg.dec.sync.aligned.u32 24;
}
\t.file\t1 "/op/kernel.cu"
\t.file\t2 "/op/wgmma.cuh"
"""


@pytest.fixture
def ptx():
    return PtxPlaces(_PTX)


def _line(text):
    return next(at for at, line in enumerate(_PTX.splitlines(), 1) if text in line)


def test_a_chain_of_calls_begins_with_the_innermost(ptx):
    chain = (("/op/wgmma.cuh", 7), ("/op/kernel.cu", 20), ("/op/kernel.cu", 44))
    assert ptx.at(_line("wgmma.mma_async")) == chain
    assert ptx.at(_line("setmaxnreg")) == (("/op/kernel.cu", 46),)


def test_before_the_first_place_there_is_none(ptx):
    assert ptx.at(2) == ()


def test_functions_with_a_body_are_listed_with_their_lines(ptx):
    assert list(ptx.functions) == ["kernel", "called", "bound"]
    assert ptx.functions["kernel"].line_of("wgmma.mma_async") == _line("wgmma.mma_async")
    assert ptx.functions["called"].line_of("wgmma.mma_async") == 0


def test_a_function_starts_at_its_first_place(ptx):
    assert ptx.start_of("kernel") == (("/op/kernel.cu", 40),)
    assert ptx.start_of("called") == (("/op/kernel.cu", 60),)
    assert ptx.start_of("bound") == ptx.start_of("unknown") == ()


def test_a_kernel_with_setmaxnreg_needs_more_than_the_number_of_its_threads(ptx):
    lacking = [name for name, one in ptx.functions.items() if one.lacks_register_count]
    assert lacking == ["kernel"]


def test_a_chain_that_leads_back_to_itself_ends():
    text = "\t.loc\t1 2 3, function_name $L0, inlined_at 1 2 3\n"
    assert PtxPlaces(text).at(1) == (("?", 2),)
