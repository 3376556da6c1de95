from __future__ import annotations

import torch

from fictl.case.options import CaseOptions
from fictl.case.selection import selected_cases
from fictl.case.workload import TrialWorkload
from fictl.project import OpFolder


def workload(folder: OpFolder, function: str, seed: int = 0) -> TrialWorkload:
    ((subject, case),) = selected_cases(folder, [function], CaseOptions(case="-64"))
    return TrialWorkload(subject, case, "cpu", seed)


def test_copies_hold_other_data(hostile: OpFolder) -> None:
    work = workload(hostile, "right")
    assert not torch.equal(work.inputs(0)["input"], work.inputs(1)["input"])


def test_a_seed_gives_the_same_data_again(hostile: OpFolder) -> None:
    first, again, other = (
        workload(hostile, "right", seed).inputs(0)["input"] for seed in (1, 1, 2)
    )
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_sides_share_inputs_unless_the_op_changes_them(hostile: OpFolder) -> None:
    shared, own = workload(hostile, "right"), workload(hostile, "inplace")
    assert shared.inputs(0)["input"] is shared.inputs(0)["input"]
    assert own.inputs(0)["input"] is not own.inputs(0)["input"]


def test_renewed_inputs_are_other_numbers_at_the_same_place(hostile: OpFolder) -> None:
    work = workload(hostile, "right")
    input = work.inputs(3)["input"]
    before, place = input.clone(), input.data_ptr()
    work.renew(3, work.inputs(3))
    assert input.data_ptr() == place
    assert not torch.equal(input, before)


def test_outputs_have_the_shapes_and_dtypes_of_the_trace(hostile: OpFolder) -> None:
    (out,) = workload(hostile, "right").outputs().values()
    assert (out.shape, out.dtype) == ((64,), torch.float32)


def test_the_reference_is_computed_in_double(hostile: OpFolder) -> None:
    work = workload(hostile, "right")
    (expected,) = work.reference(work.inputs(0))
    assert expected.dtype == torch.float64


def test_the_trace_counts_bytes_where_it_says_how(hostile: OpFolder) -> None:
    text = hostile.trace.read_text(encoding="utf-8").replace("flops=", "bytes=")
    hostile.trace.write_text(text, encoding="utf-8")
    work = workload(hostile, "right")
    assert (work.bytes, work.flops, work.working_set) == (64, None, 512)
