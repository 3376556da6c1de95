"""wgmma, setmaxnreg and named barriers as C++: what is taken, what is refused, and which operands are held."""

from __future__ import annotations

import pytest

from fictl.emu.rewrite.asm import assembly
from fictl.emu.rewrite.ptx.operands import Names
from fictl.emu.rewrite.ptx.syntax import parse
from fictl.emu.rewrite.ptx.translate import translate_scope
from fictl.emu.rewrite.ptx.wgmma import registers

SITE = "__builtin_FILE(), __builtin_LINE()"
BF16 = "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16"
D = "{%0, %1, %2, %3}"


def cpp(text: str) -> str:
    """Without namespaces, the braces around it and the prefix of names."""
    code = translate_scope(parse(text), Names(10, labels="label1"))
    code = code.removeprefix("{ ").removesuffix(" }")
    for noise in ("::fictl_emu::ptx::", "::fictl_emu_", "fictl_emu_"):
        code = code.replace(noise, "")
    return code


def product(fields: str) -> str:
    held = ", ".join(f"place({i})" for i in range(4))
    return f"{{ void* const d[] = {{{held}}}; multiply_async(Wgmma{{{fields}}}); }}"


def fields(a: str, b: str, rest: str, sums: str = "kF32") -> str:
    return f"Element::{a}, Element::{b}, Accumulator::{sums}, 8, {rest}"


DESCRIPTORS = "get<uint64_t>(4), get<uint64_t>(5), d, {}"
SHARED = f"{BF16} {D}, %4, %5"


@pytest.mark.parametrize(
    ("ptx", "code"),
    [
        (
            f"{SHARED}, 1, -1, 1, 0, %6;",
            fields(
                "kBF16",
                "kBF16",
                f"(1) != 0, (-1) * (1) < 0, false, (0) != 0, (6) != 0, {DESCRIPTORS}",
            ),
        ),
        (
            f"{BF16} {D}, {{%4, %5, %6, %7}}, %8, %9, 1, 1, 1;",
            fields(
                "kBF16",
                "kBF16",
                "(9) != 0, (1) * (1) < 0, true, false, (1) != 0, 0, get<uint64_t>(8), d, "
                "{source(4), source(5), source(6), source(7)}",
            ),
        ),
        (
            f"wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e5m2 {D}, %4, %5, 1, 1, 1;",
            fields(
                "kE4M3", "kE5M2", f"(1) != 0, (1) * (1) < 0, false, false, false, {DESCRIPTORS}"
            ),
        ),
        (
            f"wgmma.mma_async.sync.aligned.m64n8k32.satfinite.s32.s8.u8 {D}, %4, %5, 0;",
            fields(
                "kS8",
                "kU8",
                f"(0) != 0, false, false, false, false, {DESCRIPTORS}",
                "kS32Saturated",
            ),
        ),
    ],
)
def test_a_product_gets_the_addresses_of_its_registers(ptx: str, code: str) -> None:
    assert cpp(ptx) == product(code)


@pytest.mark.parametrize(
    ("ptx", "code"),
    [
        ("wgmma.fence.sync.aligned;", f"wgmma_fence({SITE});"),
        ("wgmma.commit_group.sync.aligned;", f"wgmma_commit({SITE});"),
        ("wgmma.wait_group.sync.aligned 3;", f"wgmma_wait(get<int32_t>(3), {SITE});"),
        ("setmaxnreg.inc.sync.aligned.u32 %0;", f"setmaxnreg(1, get<int32_t>(0), {SITE});"),
        ("setmaxnreg.dec.sync.aligned.u32 24;", f"setmaxnreg(0, get<int32_t>(24), {SITE});"),
        ("bar.sync 1, 64;", "bar(get<uint32_t>(1), get<uint32_t>(64));"),
        ("bar.arrive 1, 64;", "bar_arrive(get<uint32_t>(1), get<uint32_t>(64));"),
        ("barrier.cta.sync.aligned 1;", "bar(get<uint32_t>(1));"),
        ("barrier.sync 1, 64;", "barrier(get<uint32_t>(1), get<uint32_t>(64));"),
        ("barrier.arrive 1, 64;", "barrier_arrive(get<uint32_t>(1), get<uint32_t>(64));"),
        (
            "elect.sync _|%0, 0xffffffff;",
            "{ bool p; set(Sink{}, elect(get<uint32_t>(0xffffffff), p)); set(0, p); }",
        ),
    ],
)
def test_the_instructions_around_a_product(ptx: str, code: str) -> None:
    assert cpp(ptx) == code


@pytest.mark.parametrize(
    "ptx",
    [
        "wgmma.mma_async.sync.aligned.m64n12k16.f32.bf16.bf16 {%0}, %1, %2, 1, 1, 1, 0, 0;",
        "wgmma.mma_async.sync.aligned.m64n264k16.f32.bf16.bf16 {%0}, %1, %2, 1, 1, 1, 0, 0;",
        f"wgmma.mma_async.sync.aligned.m64n8k8.f32.bf16.bf16 {D}, %4, %5, 1, 1, 1, 0, 0;",
        f"wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.f16 {D}, %4, %5, 1, 1, 1, 0, 0;",
        f"wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {D}, %4, %5, 1, 1, 1, 0, 0;",
        f"wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.bf16.bf16 {D}, %4, %5, %6, 0, 1, 1, 1, 0, 0;",
        f"{{ .reg .f32 f; {BF16} {{%0, %1, %2, f}}, %4, %5, 1, 1, 1, 0, 0; }}",
        "setmaxnreg.u32 24;",
    ],
)
def test_what_there_is_not_is_refused_when_it_runs(ptx: str) -> None:
    assert "missing(" in cpp(ptx)


def test_registers_are_held_that_a_product_uses_later() -> None:
    text = (
        f"{{ .reg .pred p; setp.ne.b32 p, %9, 0; {BF16} {D}, {{%4, %5, %6, %7}}, %8, p, 1, 1, 0; }}"
    )
    assert list(registers(parse(text))) == [f"%{i}" for i in range(8)]
    assert list(registers(parse(f"{SHARED}, 1, 1, 1, 0, 0;"))) == [f"%{i}" for i in range(4)]


def rewritten(statement: str) -> str:
    edit = assembly(f"; {statement};", 2, 7)
    assert edit is not None
    return edit.text


def test_accumulators_are_not_copied_and_values_without_an_address_are() -> None:
    outputs = ", ".join(f'"+f"(d[{i}])' for i in range(4))
    inputs = '"r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(pack(x, y)), "l"(desc)'
    code = rewritten(
        f'asm volatile("{BF16} {D}, {{%4, %5, %6, %7}}, %8, 1, 1, 1, 0;" : {outputs} : {inputs})'
    )
    assert "auto& fictl_emu_0 = (d[0]);" in code
    assert "out<" not in code
    source = "const ::fictl_emu::ptx::Source fictl_emu_7 = ::fictl_emu::ptx::source(pack(x, y));"
    assert source in code


@pytest.mark.parametrize("operands", [': "+f"(d[i])', ': "+r"(x) :: "memory"', '::"l"(desc)'])
def test_a_fence_on_registers_does_not_touch_them(operands: str) -> None:
    assert rewritten(f'asm volatile("" {operands})') == 'asm volatile("" ::: "memory")'
