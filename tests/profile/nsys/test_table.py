"""What `nsys stats` prints as CSV."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.profile.nsys.table import parse_rows, table

RECORDED = Path(__file__).parent / "recorded"
HEAD = "Time (%),Total Time (ns),{count},Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),{name}"


def page(count: str, name: str, *rows: str) -> str:
    head = HEAD.format(count=count, name=name)
    return "\n".join(["Processing [a.sqlite] with [cuda_gpu_kern_sum.py]... ", head, *rows, ""])


@pytest.mark.parametrize(
    ("count", "name"), [("Instances", "Name"), ("Num Calls", "Name"), ("Count", "Operation")]
)
def test_a_line_is_a_row_in_seconds(count: str, name: str) -> None:
    text = page(
        count, name, '98.5,"652,000",10,65200,65000.5,64000,67000,9.5,"void k<float, 8>(float *)"'
    )
    (row,) = parse_rows(text)
    assert (row.name, row.count, row.share) == ("void k<float, 8>(float *)", 10, 98.5)
    assert row.total == pytest.approx(652e-6)
    assert (row.median, row.least, row.most) == pytest.approx((65.0005e-6, 64e-6, 67e-6))


@pytest.mark.parametrize(
    "text", ["", "SKIPPED: a.sqlite does not contain GPU memory data.", page("Count", "Operation")]
)
def test_what_did_not_happen_has_no_rows(text: str) -> None:
    assert parse_rows(text) == ()


def test_a_column_that_is_missing_is_nought() -> None:
    (row,) = parse_rows("Total Time (ns),Name\n7000,k\n")
    assert (row.total, row.count, row.median) == (pytest.approx(7e-6), 0, 0)


def test_recorded_kernels_and_calls_are_read() -> None:
    (kernel,) = parse_rows((RECORDED / "cuda_gpu_kern_sum.csv").read_text())
    assert kernel.name.startswith("void fictl::norm::RMSNormKernel<__nv_bfloat16, __nv_bfloat16")
    assert (kernel.count, kernel.median) == (20, pytest.approx(68.272e-6))
    calls = parse_rows((RECORDED / "cuda_api_sum.csv").read_text())
    assert [(call.name, call.count) for call in calls] == [
        ("cudaDeviceSynchronize", 1),
        ("cudaLaunchKernelExC_v11060", 20),
        ("cuProfilerStart", 1),
    ]


def test_recorded_copies_that_there_were_none_of_are_none() -> None:
    text = (RECORDED / "cuda_gpu_mem_time_sum.csv").read_text()
    assert "SKIPPED" in text
    assert (parse_rows(text), table(text)) == ((), "")
