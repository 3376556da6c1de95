"""A summary as people read it."""

from __future__ import annotations

from fictl.profile.cupti.summarise import summarise
from fictl.profile.cupti.table import grids, remarks, text


def test_a_line_says_how_a_kernel_was_launched(kernel, h200):
    work = [kernel(registers=64, static_shared=512, dynamic_shared=4096)]
    (grid,) = grids(summarise("s", work, [], lambda index: h200))
    said = dict(zip(grid.columns, grid.rows[0], strict=True))
    assert said == {
        "kernel": "k",
        "grid": "1056",
        "block": "256",
        "regs": "64",
        "shared": "512 B + 4.0 KiB dyn",
        "occupancy": "50% registers",
        "waves": "2",
        "median": "10.0 us",
        "min": "10.0 us",
        "max": "10.0 us",
        "share": "100.0%",
    }


def test_columns_that_say_nothing_are_left_out(kernel):
    (grid,) = grids(summarise("s", [kernel()], [], lambda index: None))
    assert not {"cluster", "shared", "occupancy", "waves", "launches"} & {*grid.columns}


def test_clusters_and_several_launches_in_a_call_are_said(kernel):
    work = [kernel(cluster=(2, 1, 1)), kernel(start=20, end=30, cluster=(2, 1, 1))]
    (grid,) = grids(summarise("s", work, [], lambda index: None))
    said = dict(zip(grid.columns, grid.rows[0], strict=True))
    assert (said["cluster"], said["launches"]) == ("2", "2")


def test_names_of_templates_are_cut(kernel):
    (grid,) = grids(summarise("s", [kernel("k" * 200)], [], lambda index: None))
    assert len(grid.rows[0][0]) < 60


def test_copies_have_a_table_of_their_own(copy):
    (grid,) = grids(summarise("s", [copy(end=8)], [], lambda index: None))
    assert grid.rows[0][:3] == ("host to device", "1.0 MiB", "131.1")


def test_gaps_and_the_host_are_said_below(kernel, api_call):
    work = [kernel("a", 0, 10), kernel("b", 30, 40)]
    calls, idle, host = remarks(summarise("s", work, [api_call(), api_call()], lambda i: None))
    assert calls == "on the GPU: 40.0 us from the first beginning to the last end"
    assert idle == "idle: 50.0% of it; the longest gap 20.0 us, after a"
    assert host.startswith("host: 6.00 us in 2 cudaLaunchKernel (")


def test_of_several_calls_the_range_is_said(kernel):
    work = [kernel(), kernel(start=20, end=32, call=1), kernel(start=40, end=51, call=2)]
    first, *_ = remarks(summarise("s", work, [], lambda index: None))
    assert first == "a call: 11.0 us on the GPU (10.0 us to 12.0 us in 3)"


def test_overlap_is_explained(kernel):
    summary = summarise("s", [kernel(), kernel("b", 8, 12)], [], lambda index: None)
    assert any(said.startswith("launches overlap by 2.00 us a call") for said in remarks(summary))


def test_of_the_hosts_calls_noise_is_left_out(kernel, api_call):
    api = [api_call(end=10), api_call(name="cudaGetDevice", end=0.2)]
    *_, host = remarks(summarise("s", [kernel()], api, lambda index: None))
    assert "cudaGetDevice" not in host


def test_numbers_too_small_to_mean_something_are_not_spelled(kernel, copy, h200):
    work = [kernel(grid=(1, 1, 1)), copy(bytes=4)]
    kernels, copies = grids(summarise("s", work, [], lambda index: h200))
    assert kernels.rows[0][kernels.columns.index("waves")] == "<0.01"
    assert copies.rows[0][copies.columns.index("GB/s")] == "<0.1"


def test_as_text_it_is_aligned(kernel, h200):
    lines = text(summarise("s", [kernel(), kernel("longer", 20, 30)], [], lambda i: h200)).split(
        "\n"
    )
    assert lines[0] == "s  NVIDIA H200"
    assert lines[2].index("grid") == lines[3].index("1056") == lines[4].index("1056")
