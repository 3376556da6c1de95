"""PTX, kernel by kernel."""

from __future__ import annotations

from fictl.inspect.ptx import parse_ptx, with_lines

PTX = """
.version 9.0
.func  (.param .b32 func_retval0) _Z4pickPKfi(
	.param .b64 _Z4pickPKfi_param_0
)
{
	ret;
}
	// .globl	bounded
.visible .entry bounded(
	.param .u64 bounded_param_0
)
.maxntid 32, 8, 1
.minnctapersm 2
{
	.reg .pred 	%p<2>;
	.loc	1 47 0
	{ // a scope
	.loc	2 3 5, function_name $L__info_string0, inlined_at 1 48 3
	}
	ret;
}
.entry exact(
)
.reqntid 128
{
	ret;
}
.visible .entry free()
{
	ret;
}
	.file	1 "/home/me/a.cuh"
	.file	2 "/home/me/b.cuh"
"""


def test_the_launch_bounds_of_each_kernel() -> None:
    found = {name: entry.threads for name, entry in parse_ptx(PTX).items()}
    assert found == {"bounded": 256, "exact": 128, "free": None}


def test_a_kernel_ends_where_its_body_does() -> None:
    text = parse_ptx(PTX)["bounded"].text
    assert text.startswith(".visible .entry bounded(")
    assert text.endswith("ret;\n}")
    assert "exact" not in text


def test_lines_of_the_source_stand_in_the_place_of_numbers() -> None:
    text = with_lines(parse_ptx(PTX)["bounded"].text, PTX, lambda file, line: f"{file}:{line}")
    comments = [line.strip() for line in text.splitlines() if "// /" in line]
    assert comments == ["// /home/me/a.cuh:47", "// /home/me/b.cuh:3"]
    assert ".loc" not in text
