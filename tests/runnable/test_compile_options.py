"""Flags that a solution brings: what changes code is taken, what does anything else is refused."""

from __future__ import annotations

import pytest

from fictl.arch import Arch
from fictl.runnable import BuildError
from fictl.runnable.compile_options import checked_options


@pytest.fixture
def options(exporting):
    def of(**groups):
        empty = {"cflags": [], "cuda_cflags": [], "ld_flags": []}
        return checked_options(exporting(compile_options={**empty, **groups}))

    return of


def test_none_are_none(exporting):
    assert checked_options(exporting()).cxx == ()


@pytest.mark.parametrize(
    "flag",
    ["-O3", "-std=c++20", "-DX=1.5", "-Wall", "-fopenmp", "-ffast-math", "-march=x86-64-v3", "-g"],
)
def test_flags_of_cxx(options, flag):
    assert options(cflags=[flag]).cxx == (flag,)


@pytest.mark.parametrize(
    ("flags", "taken"),
    [
        (["--use_fast_math"], ("--use_fast_math",)),
        (["-Xptxas -v,-O3"], ("-Xptxas=-v,-O3",)),
        (["-Xptxas", "-dlcm=ca"], ("-Xptxas=-dlcm=ca",)),
        (["-Xcompiler=-fopenmp,-O3"], ("-Xcompiler=-fopenmp,-O3",)),
        (["--maxrregcount", "64"], ("--maxrregcount=64",)),
        (
            ["--expt-relaxed-constexpr", "--extended-lambda", "-lineinfo"],
            ("--expt-relaxed-constexpr", "--extended-lambda", "-lineinfo"),
        ),
        (["-DNDEBUG", "-D X=2"], ("-DNDEBUG", "-DX=2")),
        (["--threads", "4", "-t 2"], ()),
    ],
)
def test_flags_of_nvcc(options, flags, taken):
    assert options(cuda_cflags=flags).cuda == taken


@pytest.mark.parametrize(
    ("flag", "arch"),
    [
        ("-gencode=arch=compute_90a,code=sm_90a", Arch(9, 0, "a")),
        ("-gencode arch=compute_80,code=sm_80", Arch(8, 0)),
        ("-arch=sm_100a", Arch(10, 0, "a")),
        ("--gpu-architecture=sm_89", Arch(8, 9)),
    ],
)
def test_targets_are_the_builds(options, flag, arch):
    found = options(cuda_cflags=[flag])
    assert found.archs == (arch,)
    assert found.cuda == ()


def test_libraries_of_cuda_are_found_by_name(options):
    found = options(ld_flags=["-lcublas", "-lcuda", "-lm", "-lcudart", "-L/usr/local/cuda/lib64"])
    assert found.libraries == ("cublas", "cuda")
    assert found.link == ("-lm",)


def test_includes_lie_in_the_solution(options):
    assert options(cflags=["-Iinclude", "-I", "src/a"]).includes == ("include", "src/a")
    assert options(cflags=["-I/usr/local/cuda-13.0/include"]).includes == ()


@pytest.mark.parametrize(
    "flag",
    [
        "-fplugin=evil.so",
        "-fplugin-arg-x",
        "@file",
        "-wrapper",
        "-B/tmp",
        "-I/etc",
        "-I../x",
        "-Ia/../../x",
        "-isystem /etc",
        "-include",
        "/etc/passwd",
        "-o",
        "-save-temps",
        "-dumpdir",
        "-fprofile-generate",
        "-fdump-tree-all",
        "-specs=x",
        "-Wl,-rpath,/tmp",
        "-Wp,-MD,x",
        "-march=native",
        "-DX=$(touch${IFS}x)",
        "-DX=`x`",
        "-DX=;x",
        "-DX='x'",
        "-xassembler",
    ],
)
@pytest.mark.parametrize("group", ["cflags", "cuda_cflags", "ld_flags"])
def test_what_does_anything_else_is_refused_by_name(options, flag, group):
    with pytest.raises(BuildError, match=f"answer: {group} has .*, which is not allowed") as raised:
        options(**{group: [flag]})
    assert flag.split()[0] in raised.value.message


@pytest.mark.parametrize(
    ("group", "flag"),
    [
        ("cuda_cflags", "--compiler-bindir=/tmp"),
        ("cuda_cflags", "-ccbin=/tmp/x"),
        ("cuda_cflags", "-Xcompiler=-fplugin=x.so"),
        ("cuda_cflags", "-Xcompiler -O2,-wrapper,x"),
        ("cuda_cflags", "-Xptxas=--output-file=x"),
        ("cuda_cflags", "-Xlinker=-rpath"),
        ("cuda_cflags", "--keep-dir=/tmp"),
        ("cuda_cflags", "-rdc=true"),
        ("cuda_cflags", "--options-file=x"),
        ("cuda_cflags", "-ldir=/x"),
        ("ld_flags", "-l:x.so"),
        ("ld_flags", "-L/tmp"),
        ("ld_flags", "-Wl,-rpath=/tmp"),
        ("ld_flags", "-l../x"),
        ("ld_flags", "/tmp/evil.o"),
        ("ld_flags", "-Wl,-dynamic-linker,/x"),
        ("ld_flags", "-T x"),
    ],
)
def test_refused_in_its_place(options, group, flag):
    with pytest.raises(BuildError, match="is not allowed"):
        options(**{group: [flag]})


def test_a_target_that_there_is_not_is_said(options):
    with pytest.raises(BuildError, match="sm_banana"):
        options(cuda_cflags=["-arch=sm_banana"])
