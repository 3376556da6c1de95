"""mbarriers, bulk copies and their fences as C++: every spelling that is taken, and those that are refused."""

from __future__ import annotations

import pytest

from fictl.emu.rewrite.ptx.operands import Names
from fictl.emu.rewrite.ptx.syntax import parse
from fictl.emu.rewrite.ptx.translate import translate_scope

SITE = "__builtin_FILE(), __builtin_LINE()"
COMPLETES = "mbarrier::complete_tx::bytes"


def cpp(text: str) -> str:
    """Without namespaces, the braces around it, conversions and the prefix of names."""
    code = translate_scope(parse(text), Names(8, labels="label1"))
    code = code.removeprefix("{ ").removesuffix(" }")
    for noise in ("::fictl_emu::ptx::", "::fictl_emu_", "fictl_emu_", "FICTL_EMU_"):
        code = code.replace(noise, "")
    for space in ("shared_address", "generic_address", "cluster_target"):
        code = code.replace(f"{space}(get<uint64_t>", f"{space.partition('_')[0]}(")
    return code


@pytest.mark.parametrize(
    ("ptx", "code"),
    [
        ("mbarrier.init.shared.b64 [%0], 1;", "mbarrier_init(shared((0)), get<uint32_t>(1));"),
        ("mbarrier.inval.b64 [%0];", "mbarrier_inval(generic((0)));"),
        (
            "mbarrier.arrive.shared::cta.b64 _, [%0];",
            "set(Sink{}, mbarrier_arrive(shared((0)), 1u, 0u, 0));",
        ),
        (
            "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0], 3;",
            "set(Sink{}, mbarrier_arrive(cluster((0)), get<uint32_t>(3), 0u, CLUSTER));",
        ),
        (
            "mbarrier.arrive.expect_tx.relaxed.cta.shared::cta.b64 %1, [%0], %2;",
            "set(1, mbarrier_arrive(shared((0)), 1u, get<uint32_t>(2), RELAXED));",
        ),
        (
            "mbarrier.arrive_drop.shared.b64 _, [%0];",
            "set(Sink{}, mbarrier_arrive(shared((0)), 1u, 0u, DROP));",
        ),
        (
            "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], 64;",
            "mbarrier_expect(shared((0)), get<uint32_t>(64));",
        ),
        (
            "mbarrier.complete_tx.shared::cluster.relaxed.cluster.b64 [%0], %1;",
            "mbarrier_complete(cluster((0)), get<uint32_t>(1));",
        ),
        (
            "mbarrier.try_wait.parity.shared::cta.b64 %0, [%1], %2, 1000;",
            f"set(0, mbarrier_wait(shared((1)), get<uint32_t>(2), BY_PARITY, {SITE}) != 0);",
        ),
        (
            "mbarrier.test_wait.acquire.cluster.shared::cta.b64 %0, [%1], %2;",
            f"set(0, mbarrier_wait(shared((1)), get<uint64_t>(2), TEST | CLUSTER, {SITE}) != 0);",
        ),
        ("cp.async.mbarrier.arrive.shared::cta.b64 [%0];", "copy_arrive(shared((0)), 1);"),
        ("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];", "copy_arrive(shared((0)), 0);"),
        ("fence.proxy.async;", "proxy_fence(PROXY_ALL);"),
        ("fence.proxy.async.shared::cta;", "proxy_fence(PROXY_SHARED);"),
        ("fence.proxy.async.global;", "proxy_fence(PROXY_GLOBAL);"),
        ("fence.mbarrier_init.release.cluster;", "proxy_fence(PROXY_BARRIERS);"),
        ("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;", "proxy_fence(PROXY_MAPS);"),
        ("cp.async.bulk.commit_group;", "bulk_commit();"),
        ("cp.async.bulk.wait_group 2;", "bulk_wait(get<uint32_t>(2), 0);"),
        ("cp.async.bulk.wait_group.read 0;", "bulk_wait(get<uint32_t>(0), 1);"),
        ("cp.async.bulk.prefetch.tensor.2d.L2.global [%0, {%1, %2}];", ""),
        ("prefetch.tensormap [%0];", ""),
        (
            f"cp.async.bulk.shared::cluster.global.{COMPLETES} [%0], [%1], %2, [%3];",
            "bulk_load(cluster((0)), generic((1)), get<uint32_t>(2), cluster((3)), 0u);",
        ),
        (
            f"cp.async.bulk.shared::cluster.shared::cta.{COMPLETES} [%0], [%1], %2, [%3];",
            "bulk_load(cluster((0)), shared((1)), get<uint32_t>(2), cluster((3)), 0u);",
        ),
        (
            f"cp.async.bulk.shared::cluster.global.{COMPLETES}.multicast::cluster.L2::cache_hint "
            "[%0], [%1], %2, [%3], %4, %5;",
            "bulk_load(cluster((0)), generic((1)), get<uint32_t>(2), cluster((3)), get<uint16_t>(4));",
        ),
        (
            "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;",
            "bulk_store(generic((0)), shared((1)), get<uint32_t>(2), NO_REDUCTION, 0);",
        ),
        (
            "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.bf16 [%0], [%1], %2;",
            "bulk_store(generic((0)), shared((1)), get<uint32_t>(2), ADD, BF16);",
        ),
        (
            f"cp.async.bulk.tensor.2d.shared::cluster.global.tile.{COMPLETES} [%0], [%1, {{%2, %3}}], [%4];",
            "{ const int32_t at[] = {get<int32_t>(2), get<int32_t>(3)}; "
            "tensor_load(cluster((0)), generic((1)), at, 2, cluster((4)), 0u); }",
        ),
        (
            f"cp.async.bulk.tensor.1d.shared::cluster.global.{COMPLETES}.multicast::cluster"
            ".L2::cache_hint [%0], [%1, {%2}], [%3], %4, %5;",
            "{ const int32_t at[] = {get<int32_t>(2)}; "
            "tensor_load(cluster((0)), generic((1)), at, 1, cluster((3)), get<uint16_t>(4)); }",
        ),
        (
            "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, 8}], [%2];",
            "{ const int32_t at[] = {get<int32_t>(1), get<int32_t>(8)}; "
            "tensor_store(generic((0)), at, 2, shared((2)), NO_REDUCTION); }",
        ),
        (
            "cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.tile.bulk_group [%0, {%1}], [%2];",
            "{ const int32_t at[] = {get<int32_t>(1)}; "
            "tensor_store(generic((0)), at, 1, shared((2)), ADD); }",
        ),
    ],
)
def test_an_instruction_becomes_a_call(ptx: str, code: str) -> None:
    assert cpp(ptx) == code


@pytest.mark.parametrize(
    ("opcode", "operands"),
    [
        ("mbarrier.arrive.noComplete.release.cta.shared::cta.b64", "%0, [%1], 1"),
        ("mbarrier.try_wait.parity.shared::cta.b32", "%0, [%1], %2"),
        ("mbarrier.init.global.b64", "[%0], 1"),
        ("fence.mbarrier_init.acquire.cluster", ""),
        ("cp.async.bulk.shared::cluster.global", "[%0], [%1], %2, [%3]"),
        ("cp.async.bulk.global.shared::cta", "[%0], [%1], %2"),
        (f"cp.async.bulk.global.global.{COMPLETES}", "[%0], [%1], %2, [%3]"),
        ("cp.async.bulk.global.shared::cta.bulk_group.cp_mask", "[%0], [%1], %2, %3"),
        (
            f"cp.async.bulk.tensor.2d.shared::cluster.global.im2col.{COMPLETES}",
            "[%0], [%1, {%2, %3}], [%4]",
        ),
        (
            f"cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4.{COMPLETES}",
            "[%0], [%1, {%2, %3}], [%4]",
        ),
        (f"cp.async.bulk.tensor.6d.shared::cluster.global.{COMPLETES}", "[%0], [%1, {%2}], [%3]"),
        (
            f"cp.reduce.async.bulk.shared::cluster.shared::cta.{COMPLETES}.add.u32",
            "[%0], [%1], %2, [%3]",
        ),
        ("cp.reduce.async.bulk.global.shared::cta.bulk_group.max.f32", "[%0], [%1], %2"),
        ("cp.reduce.async.bulk.global.shared::cta.bulk_group.xor.f16", "[%0], [%1], %2"),
        ("cp.reduce.async.bulk.tensor.1d.global.shared::cta.inc.bulk_group", "[%0, {%1}], [%2]"),
    ],
)
def test_an_unknown_modifier_is_refused(opcode: str, operands: str) -> None:
    assert f'missing("PTX instruction {opcode}' in cpp(f"{opcode} {operands};")


def test_a_box_has_as_many_coordinates_as_its_instruction_says() -> None:
    code = cpp(
        f"cp.async.bulk.tensor.3d.shared::cluster.global.{COMPLETES} [%0], [%1, {{%2, %3}}], [%4];"
    )
    assert "(2 coordinates of 3)" in code
