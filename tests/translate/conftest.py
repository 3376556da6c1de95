"""Samples in C++, compiled once by the host's compiler."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fictl.translate import Result, Type, Value, body, read_function

from . import samples

INCLUDE = Path(__file__).resolve().parents[2] / "kernels" / "include"
# What nvcc has before the first line; the headers that functions need are plain C++ beside it.
_RUNTIME = """
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdlib>
#define __host__
#define __device__
using std::max;
using std::min;
inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
"""
# What stands for `//` and `%` where the host knows the divisor.
_BY_DIVISORS = """
extern "C" int quotient(int a, int b) { return fictl::device::FloorDivisor(b).quotient(a); }
extern "C" int remainder_(int a, int b) { return fictl::device::FloorDivisor(b).remainder(a); }
"""
_C = {Type.BOOL: ctypes.c_bool, Type.INT: ctypes.c_int, Type.FLOAT: ctypes.c_float}
_RESULTS = {"bool": Type.BOOL, "int": Type.INT, "float": Type.FLOAT}

Compiled = dict[str, Callable[..., Any]]


def written(function: Callable[..., Any]) -> tuple[str, list[Type], Type]:
    """A C function of its name; the types of its arguments and of its result."""
    read = read_function(function)
    types = [Type.FLOAT if each.type is None else each.type for each in read.parameters]
    values = {
        each.name: Value(f"of_{each.name}", kind)
        for each, kind in zip(read.parameters, types, strict=True)
    }
    result = _RESULTS[function.__annotations__["return"]]
    wanted = Result.CONDITION if result is Type.BOOL else Result.NUMBER
    lines, headers = body(read, values, wanted)
    given = ", ".join(f"{value.type.cpp} {value.text}" for value in values.values())
    includes = "".join(f"#include <fictl/device/{header}.cuh>\n" for header in sorted(headers))
    inside = "\n".join(f"  {line}" for line in lines)
    head = f'extern "C" {result.cpp} {function.__name__}({given})'
    return f"{includes}{head} {{\n{inside}\n}}\n", types, result


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    folder = tmp_path_factory.mktemp("translated")
    (folder / "cuda_runtime.h").write_text(_RUNTIME, encoding="utf-8")
    texts = {each.__name__: written(each) for each in samples.ALL}
    source, library = folder / "samples.cpp", folder / "samples.so"
    samples_text = "".join(text for text, _, _ in texts.values())
    source.write_text(samples_text + _BY_DIVISORS, encoding="utf-8")
    flags = ["-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    flags += ["-fno-strict-overflow", f"-I{folder}", f"-I{INCLUDE}", "-include", "cuda_runtime.h"]
    subprocess.run(["c++", *flags, str(source), "-o", str(library)], check=True)
    loaded = ctypes.CDLL(str(library))
    functions: Compiled = {}
    for name, (_, types, result) in texts.items():
        function = getattr(loaded, name)
        function.argtypes, function.restype = [_C[each] for each in types], _C[result]
        functions[name] = function
    for name in ("quotient", "remainder_"):
        functions[name] = getattr(loaded, name)
    return functions
