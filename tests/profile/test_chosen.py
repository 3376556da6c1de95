"""Which cases are profiled."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.case.options import CaseOptions
from fictl.errors import UsageError
from fictl.profile.chosen import requests

_OUT = Path("profiles")


def cases(*ops: str, **options: object) -> list[str]:
    return [r.case for r in requests(ops, CaseOptions(**options), 1, _OUT)]  # type: ignore[arg-type]


def test_by_default_it_is_the_largest_case_of_each_function():
    assert cases("rmsnorm") == ["rmsnorm-8192x8192-bfloat16"]


def test_a_functions_name_means_it_alone_though_the_module_has_it_too():
    (only,) = requests(["rmsnorm"], CaseOptions(), 1, _OUT)
    assert only.functions == {"rmsnorm"}


def test_a_family_means_all_of_its_functions():
    asked = requests(["norm"], CaseOptions(), 1, _OUT)
    assert {"rmsnorm", "layernorm", "fused_add_rmsnorm"} <= {
        name for request in asked for name in request.functions
    }
    assert len(asked) == len({request.functions for request in asked})


def test_emulated_it_is_the_largest_that_can_be_run(monkeypatch):
    monkeypatch.setenv("FICTL_DEVICE", "emu")
    assert cases("rmsnorm") == ["rmsnorm-16x7168-bfloat16"]


def test_with_a_case_all_that_match_are_meant():
    assert cases("rmsnorm", case="-16x") == [
        f"rmsnorm-16x{hidden}-bfloat16" for hidden in (2048, 4096, 5120, 7168, 8192, 16384)
    ]


def test_with_sizes_all_of_them_are_meant():
    sizes = {"rows": (3, 4), "hidden": (8,)}
    assert cases("rmsnorm", axes=sizes, dtype="float32") == [
        "rmsnorm-3x8-float32",
        "rmsnorm-4x8-float32",
    ]


def test_no_such_case_is_an_error_that_lists_some():
    with pytest.raises(UsageError, match="no case of rmsnorm matches nonsense") as raised:
        cases("rmsnorm", case="nonsense")
    assert "rmsnorm-1x8-float16" in raised.value.hint


def test_of_several_ops_one_may_have_no_such_case():
    assert cases("rmsnorm", "segment_sum", case="SegmentSum-65x512")


def test_no_op_is_an_error():
    with pytest.raises(UsageError, match="which op"):
        cases()
