"""Records of CUPTI as launches, copies and calls of the host."""

from __future__ import annotations

import pytest

from fictl.errors import SetupError
from fictl.profile.cupti.recorder import Recorder
from fictl.profile.cupti.work import BETWEEN, Copy, Kernel


def test_a_kernel_has_all_that_its_record_says(cupti):
    with Recorder() as recorder:
        cupti.launch(cluster_x=2, cluster_y=1, cluster_z=1, dynamic_shared_memory=4096)
        recorder.collect()
    (one,) = recorder.work
    assert isinstance(one, Kernel)
    assert one.name.startswith("at::native::vectorized_elementwise_kernel<4,")
    assert (one.grid, one.block, one.cluster) == ((1, 1, 1), (128, 1, 1), (2, 1, 1))
    assert (one.registers, one.shared, one.stream) == (32, 4096, 7)
    assert one.seconds == pytest.approx(10e-6)


@pytest.mark.parametrize(
    ("kind", "fields", "name"),
    [
        ("MEMCPY", {}, "device to host, pageable"),
        ("MEMCPY", {"copy_kind": 1, "src_kind": 2, "dst_kind": 3}, "host to device"),
        ("MEMCPY", {"copy_kind": 0, "src_kind": 0, "dst_kind": 0}, "copy"),
        ("MEMCPY2", {"copy_kind": 10, "src_kind": 3, "dst_kind": 3}, "peer to peer"),
        ("MEMSET", {}, "fill"),
    ],
)
def test_a_copy_is_named_by_its_memories(cupti, kind, fields, name):
    with Recorder() as recorder:
        cupti.launch(kind, microseconds=2, bytes=4000, **{"dst_kind": 1, **fields})
        recorder.collect()
    (one,) = recorder.work
    assert isinstance(one, Copy)
    assert (one.name, one.bytes, one.gbps) == (name, 4000, pytest.approx(2.0))


def test_calls_of_the_host_have_the_names_that_people_write(cupti):
    with Recorder() as recorder:
        cupti.launch()
        cupti.launch("MEMSET")
        cupti.record("DRIVER", 1, cupti.known["DRIVER"])
        recorder.collect()
    names = [each.name for each in recorder.api]
    assert names == ["cudaLaunchKernel", "cudaMemsetAsync", "driver call 392"]


def test_work_is_of_the_call_that_launched_it(cupti):
    with Recorder() as recorder:
        cupti.launch()
        recorder.run(7, cupti.launch)
        recorder.collect()
    assert [each.call for each in recorder.work] == [BETWEEN, 7]
    assert [each.call for each in recorder.api] == [BETWEEN, 7]


def test_what_is_forgotten_is_not_collected(cupti):
    with Recorder() as recorder:
        cupti.launch()
        recorder.forget()
        recorder.collect()
    assert recorder.work == recorder.api == []


def test_lost_records_are_an_error_that_says_how_many(cupti):
    with pytest.raises(SetupError, match="lost 12 records"), Recorder() as recorder:
        cupti.dropped = 12
        recorder.collect()


def test_a_cupti_that_sees_launches_and_no_kernel_is_an_error(cupti):
    cupti.sees_kernels = False
    with pytest.raises(SetupError, match="recorded no kernel"), Recorder() as recorder:
        cupti.launch()
        recorder.collect()


def test_two_at_once_are_refused_before_cupti_is_asked(cupti):
    with Recorder():
        with pytest.raises(SetupError, match="records by CUPTI already"), Recorder():
            pass
        assert cupti.enabled
    with Recorder():
        pass
