"""Statements of inline assembly: which are PTX, and how operands get into registers and out."""

from __future__ import annotations

import pytest

from fictl.emu.rewrite.asm import assembly

P = "::fictl_emu::ptx::"


def rewritten(statement: str) -> str | None:
    edit = assembly(f"; {statement};", 2, 7)
    return None if edit is None else edit.text


def body(text: str) -> str:
    """The instructions between the operands' moves."""
    code = rewritten(f'asm volatile("{text}" : "=r"(d) : "r"(a), "r"(b))')
    assert code is not None
    return code.split("{", 2)[-1].rsplit("}", 2)[0].partition("{")[2].strip()


@pytest.mark.parametrize(
    "statement",
    [
        'int x asm("y")',
        'void f() asm("g")',
        'asm volatile("" ::: "memory")',
        'asm volatile("rdtsc" : "=a"(low), "=d"(high))',
        'asm volatile("pause" ::: "memory")',
        'asm("mov %1, %0" : "=m"(x) : "x"(y))',
        "plasma(x)",
        "int asm_count = 3",
    ],
)
def test_what_is_not_ptx_stays(statement: str) -> None:
    text = f"; {statement};"
    assert assembly(text, text.index("asm"), 0) is None


@pytest.mark.parametrize(
    "head", ["asm", "asm volatile", "__asm__ __volatile__", "__asm volatile", "asm\nvolatile\n"]
)
def test_every_spelling_of_asm_is_one(head: str) -> None:
    assert rewritten(f'{head}("bar.warp.sync 1;")') is not None


def test_operands_go_into_registers_and_out() -> None:
    code = rewritten('asm("mov.b32 %0, %1;" : "=r"(x[i]) : "f"(f(a, b)))')
    assert code is not None
    assert code.startswith(
        f"do {{ uint32_t fictl_emu_0{{}}; const float fictl_emu_1 = {P}in<float>(f(a, b)); {{"
    )
    assert f"(x[i]) = {P}out<std::decay_t<decltype((x[i]))>>(fictl_emu_0);" in code
    assert code.endswith("} while (0)")


@pytest.mark.parametrize(
    ("operand", "declared"),
    [
        ('"+r"(x)', f"uint32_t fictl_emu_0 = {P}in<uint32_t>(x);"),
        ('"=&l"(x)', "uint64_t fictl_emu_0{};"),
        ('"=h"(x)', "uint16_t fictl_emu_0{};"),
        ('"+d"(x)', f"double fictl_emu_0 = {P}in<double>(x);"),
    ],
)
def test_a_constraint_is_a_type_and_a_direction(operand: str, declared: str) -> None:
    assert declared in str(rewritten(f'asm("mov.b32 %0, %0;" : {operand})'))


def test_an_input_may_be_the_register_of_an_output() -> None:
    code = str(rewritten('asm("add.u32 %0, %0, %1;" : "=r"(x) : "0"(y))'))
    assert f"auto& fictl_emu_1 = fictl_emu_0; fictl_emu_1 = {P}in<uint32_t>(y);" in code


def test_operands_may_have_names_and_comments_mean_nothing() -> None:
    code = str(
        rewritten(
            'asm("/* one */ mov.u32 %[to], // two\\n" "%[from];" : [to] "=r"(x) : [from] "r"(y))'
        )
    )
    assert f"{P}set(fictl_emu_0, {P}get<uint32_t>(fictl_emu_1));" in code


def test_a_raw_string_is_a_template_too() -> None:
    code = str(rewritten('asm(R"(mov.u32 %0,\n %1;)" : "=r"(x) : "r"(y))'))
    assert f"{P}set(fictl_emu_0, {P}get<uint32_t>(fictl_emu_1));" in code
