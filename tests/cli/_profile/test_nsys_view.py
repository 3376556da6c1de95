"""The summary of nsys as people read it."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from fictl.cli._profile.nsys_view import show
from fictl.profile.nsys.run_nsys import API, COPIES, KERNELS
from fictl.profile.nsys.summary import NsysSummary
from fictl.profile.nsys.table import Row


def test_each_table_that_has_rows_is_shown(capsys) -> None:
    kernel = Row("void a::K<8>(float *)", 10, 652e-6, 65e-6, 64e-6, 67e-6, 100.0)
    call = Row("cudaLaunchKernel", 10, 50e-6, 4.5e-6, 4e-6, 12e-6, 98.4)
    tables = {KERNELS: (kernel,), COPIES: (), API: (call,)}
    summary = NsysSummary("p/a/k", "k-8", 10, "2025.3.1", Path("out/k.nsys-rep"), (), tables)
    show(Console(width=400, highlight=False), summary)
    assert capsys.readouterr().out.splitlines() == [
        "  k-8 · nsys 2025.3.1 · 10 calls",
        "",
        "kernel   times  median    min       max       share",
        "a::K<8>  10     65.00 us  64.00 us  67.00 us  100 %",
        "",
        "host              times  median   min      max       share",
        "cudaLaunchKernel  10     4.50 us  4.00 us  12.00 us  98 %",
        "",
        "  wrote out/k.nsys-rep, for Nsight Systems",
    ]
