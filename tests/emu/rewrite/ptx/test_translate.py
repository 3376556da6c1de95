"""Instructions of PTX as C++; what they compute is tested where they run, in test_ptx_*.py."""

from __future__ import annotations

import pytest

from fictl.emu.rewrite.ptx.operands import Names
from fictl.emu.rewrite.ptx.syntax import parse
from fictl.emu.rewrite.ptx.translate import translate_scope

P = "::fictl_emu::ptx::"


def cpp(text: str) -> str:
    """Without the namespace, the braces around it and the prefix of names."""
    code = translate_scope(parse(text), Names(5, labels="label1"))
    return code.removeprefix("{ ").removesuffix(" }").replace(P, "").replace("fictl_emu_", "")


@pytest.mark.parametrize(
    ("ptx", "code"),
    [
        ("add.u32 %0, %1, %2;", "set(0, add(get<uint32_t>(1), get<uint32_t>(2)));"),
        ("mul.wide.s32 %0, %1, -2;", "set(0, mul_wide(get<int32_t>(1), get<int32_t>(-2)));"),
        (
            "add.rz.f32 %0, %1, 0f3F800000;",
            "set(0, add<Rounding::kZero>(get<float>(1), get<float>(bits<float>(0x3F800000u))));",
        ),
        (
            "mov.b64 %0, {%1, %2};",
            "set(0, static_cast<uint64_t>(static_cast<uint64_t>(get<uint32_t>(1)) << 0 | "
            "static_cast<uint64_t>(get<uint32_t>(2)) << 32));",
        ),
        ("ld.shared.f32 %0, [%1];", "set(0, load<float>(shared_address(get<uint64_t>(1))));"),
        (
            "ld.acquire.gpu.u32 %0, [%1+8];",
            "set(0, load_acquire<uint32_t>((generic_address(get<uint64_t>(1)) + get<int64_t>(8)))); "
            "after_spin();",
        ),
        ("mov.u32 %0, %tid.y;", "set(0, get<uint32_t>(::threadIdx.y));"),
        ("mov.u32 %0, WARP_SZ;", "set(0, get<uint32_t>(32));"),
        ("cp.async.wait_group 0;", "::copy_wait(get<int32_t>(0));"),
        ("membar.gl;", "::fence(FICTL_EMU_DEVICE);"),
        ("fence.sc.sys;", "::fence(FICTL_EMU_SYSTEM);"),
        (
            ".reg .pred p; @!p trap;",
            'bool r_p{}; if (!r_p) { ::stop("trap", "the PTX instruction trap", '
            "__builtin_FILE(), __builtin_LINE()); }",
        ),
        ("L: bra.uni L;", "label1_L:; goto label1_L;"),
        ("{ .reg .f16 h; }", "{ uint16_t r_h{}; }"),
        ("prefetch.global.L2 [%0];", ""),
        ("griddepcontrol.wait;", "::dependencies_wait();"),
    ],
)
def test_an_instruction_becomes_a_statement(ptx: str, code: str) -> None:
    assert cpp(ptx) == code


@pytest.mark.parametrize(
    ("ptx", "named"),
    [
        ("frobnicate.u32 %0, %1;", "frobnicate.u32"),
        ("tcgen05.alloc %0;", "tcgen05.alloc"),
        ("add.rz.ftz.odd.f32 %0, %1, %2;", "add.rz.ftz.odd.f32"),
        ("mov.u32 %0, %envreg3;", "mov.u32 (the operand %envreg3)"),
        ("cvt.rn.e2m1x2.f32 %0, %1, %2;", "cvt.rn.e2m1x2.f32"),
        (
            "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0}, {%1}, {%2}, {%3};",
            "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64",
        ),
        ("atom.global.exch.b128 %0, [%1], %2;", "atom.global.exch.b128"),
    ],
)
def test_what_is_not_emulated_says_so_when_it_runs(ptx: str, named: str) -> None:
    assert cpp(ptx) == (
        f'::missing("PTX instruction {named}", __builtin_FILE(), __builtin_LINE());'
    )


def test_a_register_hides_one_of_an_outer_scope() -> None:
    code = cpp(".reg .b32 r; { .reg .f32 r; mov.f32 r, 1.5; } mov.b32 r, 1;")
    assert code == (
        "uint32_t r_r{}; { float r_r{}; set(r_r, get<float>(1.5)); } set(r_r, get<uint32_t>(1));"
    )
