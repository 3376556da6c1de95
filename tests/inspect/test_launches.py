"""Block sizes by the text of launches."""

from __future__ import annotations

import pytest

from fictl.inspect.launches import block_sizes


@pytest.mark.parametrize(
    ("code", "sizes"),
    [
        ("Kernel<<<grid, 128, 0, stream>>>(x);", {"Kernel": 128}),
        ("a::b::Kernel<float, 4><<<dim3(n, 1), dim3(32, 4), 0, s>>>(x);", {"Kernel": 128}),
        ("constexpr int kThreads = 256;\nKernel<<<n, kThreads>>>(x);", {"Kernel": 256}),
        ("#define THREADS 64u\nKernel<<<n, THREADS>>>(x);", {"Kernel": 64}),
        (
            "constexpr int kWarps = 4;\nstatic constexpr int kT = kWarps * 32;\nK<<<n, kT>>>(x);",
            {"K": 128},
        ),
        (
            "config.block = dim3(96);\nreturn device::launch<Kernel<T, 2>>(config, x);",
            {"Kernel": 96},
        ),
        ("config.block = dim3(96);\nlaunch<(a::Kernel<T, 2>)>(config, x);", {"Kernel": 96}),
        (
            "void make() {\n  c.block = 64;\n}\nvoid run() {\n  device::launch<Kernel>(c, x);\n}\n",
            {"Kernel": 64},
        ),
        (
            "void a() {\n  c.block = 64;\n  launch<A>(c);\n}\nvoid b() {\n  c.block = 32;\n  launch<B>(c);\n}",
            {"A": 64, "B": 32},
        ),
    ],
)
def test_a_constant_block_is_known(code: str, sizes: dict[str, int]) -> None:
    assert block_sizes([code]) == sizes


@pytest.mark.parametrize(
    "code",
    [
        "Kernel<<<grid, threads>>>(x);",
        "Kernel<<<grid, 128>>>(x); Kernel<<<grid, 64>>>(x);",
        "Kernel<<<grid, 128>>>(x); Kernel<<<grid, n>>>(x);",
        "constexpr int kT = kT;\nKernel<<<n, kT>>>(x);",
        "constexpr int kT = 32;\nstruct S { static constexpr int kT = 64; };\nK<<<n, kT>>>(x);",
        "// Kernel<<<grid, 128>>>(x);",
        "Kernel<<<grid, 4096>>>(x);",
        "Kernel<<<grid, __import__('os')>>>(x);",
        "Kernel<<<grid, 9**9**9>>>(x);",
        "Kernel<<<grid, dim3(rows(n), 32)>>>(x);",
        "void a() {\n  c.block = 64;\n}\nvoid b() {\n  c.block = 32;\n}\nvoid d() {\n  launch<A>(c);\n}",
        "<<<>>>",
        "",
    ],
)
def test_what_the_text_does_not_tell_is_left_out(code: str) -> None:
    assert block_sizes([code]) == {}


def test_constants_of_a_header_count_in_the_launcher() -> None:
    texts = ["constexpr int kThreads = 192;", "Kernel<<<n, kThreads>>>(x);"]
    assert block_sizes(texts) == {"Kernel": 192}
