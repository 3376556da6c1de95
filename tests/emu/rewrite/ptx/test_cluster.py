"""Instructions on clusters and on dependent grids as C++."""

from __future__ import annotations

import pytest

from .test_hopper import SITE, cpp

COMPLETES = "mbarrier::complete_tx::bytes"


@pytest.mark.parametrize(
    ("ptx", "code"),
    [
        ("barrier.cluster.arrive;", f"cluster_arrive(1, {SITE});"),
        ("barrier.cluster.arrive.release.aligned;", f"cluster_arrive(1, {SITE});"),
        ("barrier.cluster.arrive.relaxed.aligned;", f"cluster_arrive(0, {SITE});"),
        ("barrier.cluster.wait.acquire.aligned;", f"cluster_wait({SITE});"),
        (
            "mapa.u64 %0, %1, %2;",
            f"set(0, map_generic((1), get<uint32_t>(2), {SITE}));",
        ),
        (
            "mapa.shared::cluster.u32 %0, %1, 3;",
            f"set(0, map_shared((1), get<uint32_t>(3), {SITE}));",
        ),
        ("getctarank.u64 %0, %1;", f"set(0, shared_rank(generic((1)), {SITE}));"),
        ("st.shared::cluster.u32 [%0], %1;", "store(cluster((0)), get<uint32_t>(1));"),
        ("mov.u32 %0, %cluster_ctarank;", "set(0, get<uint32_t>(::cluster().rank));"),
        ("mov.u32 %0, %nclusterid.y;", "set(0, get<uint32_t>(::cluster().count.y));"),
        ("griddepcontrol.wait;", "dependencies_wait();"),
        ("griddepcontrol.launch_dependents;", "dependents_launch();"),
        (
            f"st.async.weak.shared::cluster.{COMPLETES}.u32 [%0], %1, [%2];",
            "{ const uint32_t v[] = {get<uint32_t>(1)}; "
            "async_store(cluster((0)), v, sizeof v, cluster((2))); }",
        ),
        (
            f"st.async.shared::cluster.{COMPLETES}.v2.s64 [%0], {{%1, %2}}, [%3];",
            "{ const int64_t v[] = {get<int64_t>(1), get<int64_t>(2)}; "
            "async_store(cluster((0)), v, sizeof v, cluster((3))); }",
        ),
    ],
)
def test_an_instruction_becomes_a_call(ptx: str, code: str) -> None:
    assert cpp(ptx).replace("::get", "get") == code.replace("::cluster()", "cluster()")


@pytest.mark.parametrize(
    "ptx",
    [
        f"st.async.shared::cluster.{COMPLETES}.v4.b64 [%0], {{%1, %2, %3, %4}}, [%5];",
        f"st.async.shared::cluster.{COMPLETES}.v2.b32 [%0], {{%1}}, [%2];",
        "st.async.shared::cluster.b32 [%0], %1, [%2];",
        "griddepcontrol;",
        "red.async.relaxed.cluster.shared::cluster.add.u32 [%0], %1, [%2];",
    ],
)
def test_what_there_is_not_is_refused(ptx: str) -> None:
    assert cpp(ptx).startswith("missing(")
