"""Every function that the toolkit's headers give to device code has its name in the emulator's."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from fictl.emu.toolchain import HEADERS, PRELUDE, require_toolchain

DEVICE_HEADERS = (
    "crt/device_functions.h",
    "crt/device_double_functions.h",
    "crt/math_functions.h",
    "crt/sm_70_rt.h",
    "crt/sm_80_rt.h",
    "crt/sm_90_rt.h",
    "crt/sm_100_rt.h",
    "device_atomic_functions.h",
    "sm_20_intrinsics.h",
    "sm_30_intrinsics.h",
    "sm_32_intrinsics.h",
    "sm_61_intrinsics.h",
    "sm_20_atomic_functions.h",
    "sm_32_atomic_functions.h",
    "sm_60_atomic_functions.h",
    "cuda_fp16.h",
    "cuda_bf16.h",
    "cuda_fp8.h",
)

# Of host libraries other than glibc, of compilers that are gone, or nvcc's own inner ones.
INTERNAL = re.compile(
    r"_FLog|_FCosh|_FSinhx?|_FSinx|_F?Dsign|_[lf]?dsign|_Pow_int|__libcpp_\w+|__\w+_BITS|__pow_helper"
    r"|__cmath_power|__nv_aligned_\w+|__internal_\w+|__host_\w+|__u128Atomic\w+|__nv_\w+_impl"
    r"|__is(nan|inf|finite)[df]?|__signbit[df]|__pm[0-3]|_hypotf?"
)
# What sm_70 took away: without a mask, or by an older name.
GONE = re.compile(
    r"__(shfl(_up|_down|_xor)?|any|all|ballot)|any|all|ballot|syncthreads_\w+"
    r"|[df](add|sub|mul)|\w*2(int|uint|ll|ull|double)"
)

RESULT = r"\b(?:int|unsigned|float|double|void|long|char|short|bool|dim3|[a-z]+[234]|size_t|T|__\w+)\b[\s*]*"
FUNCTION = re.compile(RESULT + r"\b(\w+)\s*\(")


# Macros and attributes.
NOISE = re.compile(r"__\w*(DECL|DEPRECATED|MESSAGE|ATOMIC|BUILTIN|attribute|declspec)\w*|__\w+__")
NOT_FOR_KERNELS = re.compile("|".join(kind.pattern for kind in (NOISE, INTERNAL, GONE)))


def declared(text: str) -> set[str]:
    without_comments = re.sub(r"/\*.*?\*/|//[^\n]*|\\\n", " ", text, flags=re.DOTALL)
    names = set(FUNCTION.findall(re.sub(r"(?m)^\s*#.*", " ", without_comments)))
    return {name for name in names if not NOT_FOR_KERNELS.fullmatch(name)}


def folder_of(name: str, folders: tuple[Path, ...]) -> Path | None:
    return next((folder / name for folder in folders if (folder / name).is_file()), None)


@pytest.fixture(scope="module")
def known() -> set[str]:
    toolchain = require_toolchain()
    system = [f"-isystem{folder}" for folder in toolchain.headers.include_dirs]
    preprocess = [
        *toolchain.cxx.argv,
        "-std=c++17",
        "-E",
        "-w",
        f"-I{HEADERS}",
        *system,
        "-include",
        PRELUDE,
        "-include",
        "cuda_fp8.h",
        "-x",
        "c++",
        "/dev/null",
    ]
    text = subprocess.run(preprocess, check=True, capture_output=True, text=True).stdout
    return set(re.findall(r"\b(\w+)\s*\(", text))


@pytest.mark.parametrize("header", DEVICE_HEADERS)
def test_no_function_of_the_toolkit_is_missing(known, header) -> None:
    path = folder_of(header, require_toolchain().headers.include_dirs)
    if path is None:
        pytest.skip(f"this toolkit has no {header}")
    assert sorted(declared(path.read_text(errors="replace")) - known) == []
