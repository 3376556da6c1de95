"""The whole rewrite: what it touches, what it leaves, and that every line stays in its place."""

from __future__ import annotations

import re
import time

import pytest

from fictl.emu.rewrite import rewrite
from fictl.errors import FictlError

SYSTEM = """\
# 1 "/usr/include/a.h" 1 3 4
int scanf(const char*) __asm__ ("" "__isoc99_scanf");
inline void wait() { __asm__ volatile("pause" ::: "memory"); }
# 4 "x.cu" 2
"""


def places(text: str) -> dict[str, str]:
    """MARK1, MARK2, … -> file:line, as a compiler reads line markers."""
    found, file, line = {}, "", 1
    for row in text.split("\n"):
        marker = re.match(r'# (\d+) "(.*?)"', row)
        if marker:
            line, file = int(marker[1]), marker[2]
            continue
        found |= dict.fromkeys(re.findall(r"MARK\w+", row), f"{file}:{line}")
        line += 1
    return found


def test_code_of_the_system_stays_as_it_is() -> None:
    text = f'# 1 "x.cu"\nint a;\n{SYSTEM}int b;\n'
    assert rewrite(text, []) == text


def test_headers_of_the_emulator_stay_but_those_of_cub_do_not() -> None:
    shared = "void f() { __fictl_emu_shared__ int x; }\n"
    own = f'# 1 "/emu/include/own.h" 1\n{shared}# 1 "/cuda/include/cub/scan.cuh" 1\n{shared}'
    rewritten = rewrite(own, ["/emu", "/cuda"])
    assert rewritten.count("__fictl_emu_shared__ int x") == 1
    assert rewritten.count('fictl_emu::shared<fictl_emu_x_holder>(&fictl_emu_x_key, "x")') == 1


def test_every_line_keeps_its_number() -> None:
    text = f"""\
# 1 "x.cu"
__fictl_emu_shared__ int
    outside;
{SYSTEM}int MARKA;
void f() {{
  __fictl_emu_shared__ float a[
      3], b;
  int MARKB;
  kernel<1,
         2>
    <<<1,
       2>>>(
      3, MARKC,
# 16 "x.cu" 3 4
          __null
# 16 "x.cu"
              , 4); int MARKD;
  asm volatile("bar.sync 0;"
               "trap;"
               :
               : "n"(MARKE)
  ); int MARKF;
  outside = MARKG;
}}
# 1 "y.cuh" 1
int MARKH; auto s = "# 3 \\"no.h\\"";
# 30 "x.cu" 2
int MARKI;
"""
    before, after = places(text), places(rewrite(text, []))
    del after["MARKE"], before["MARKE"]  # moves to the first line of its statement
    assert after == before


def test_a_marker_in_the_middle_of_a_statement_is_no_part_of_it() -> None:
    text = '# 1 "x.cu"\nint* p = (\n# 1 "x.cu" 3 4\n  __null\n# 1 "x.cu"\n  );\n'
    assert "int* p = (   __null   );" in rewrite(text, [])


def test_a_pragma_stays_at_the_beginning_of_its_line() -> None:
    text = '# 1 "x.cu"\nvoid f() {\n        \n# 3 "x.cu"\n#pragma unroll\n  g();\n}\n'
    assert "\n#pragma unroll\n" in rewrite(text, [])


def test_words_in_strings_are_no_code() -> None:
    text = (
        '# 1 "x.cu"\nauto a = "k<<<1, 2>>>(x) __fictl_emu_shared__ asm(";\n'
        "auto b = R\"x(asm volatile(\"trap;\") ')x\"; int c = 1'000'000; char d = '{';\n"
    )
    assert rewrite(text, []) == text


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("k<<<1, 2;", r"x\.cuh:12: "),
        ("k<<<1, 2>>>;", r"x\.cuh:12: the arguments of the kernel must follow >>>"),
        ("<<<1, 2>>>(x);", r"x\.cuh:12: <<< has no kernel before it"),
        ("__fictl_emu_shared__ int x = 3;", r"x\.cuh:12: a __shared__ variable has no initialiser"),
        ("__fictl_emu_shared__ int;", r"x\.cuh:12: not a declaration of a __shared__ variable: "),
        (
            'asm("add.u32 %0, %1, %2;" : "=r"(x) : "r"(y));',
            r"x\.cuh:12: .* uses operand %2, but .* 2",
        ),
        (
            'asm("add.u32 %0, %1;" : "=r"(x) : "r"(y));',
            r"x\.cuh:12: add takes more than 2 operands",
        ),
        (
            'asm("{ add.u32 %0, %0, %0;" : "=r"(x));',
            r"x\.cuh:12: .* a brace that it does not close",
        ),
        ('asm("trap; }");', r"x\.cuh:12: .* closes a brace that it has not opened"),
        ('asm("mov.u32 %[a], 1;" : "=r"(x));', r"x\.cuh:12: inline PTX has no operand %\[a\]"),
        ('asm("trap;" : "=r" x);', r"x\.cuh:12: not an operand of asm: "),
        ('asm("=%0;" : "=r"(x));', r"x\.cuh:12: not an instruction of PTX: "),
    ],
)
def test_code_that_no_compiler_takes_is_named_with_its_line(code: str, message: str) -> None:
    text = f'# 1 "a.cu"\n# 10 "x.cuh" 1\nvoid f() {{\n\n  {code}\n}}\n'
    with pytest.raises(FictlError, match=message):
        rewrite(text, [])


def test_a_hundred_thousand_lines_take_a_moment() -> None:
    header = "".join(f"inline int f{i}(int a) {{ return a + {i}; }}\n" for i in range(100_000))
    kernel = (
        '__global__ void k() {\n  __fictl_emu_shared__ int x;\n  asm volatile("bar.sync 0;");\n}\n'
    )
    text = f'# 1 "x.cu"\n# 1 "/usr/h.h" 1 3\n{header}# 2 "x.cu" 2\n{kernel * 200}'
    start = time.process_time()
    rewrite(text, [])
    assert time.process_time() - start < 1  # 0.25 s where nothing else runs
