"""Solutions in C++ that order their build, and a builder with a shelf of its own."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from fictl.judge import Judge
from fictl.judge.once.builder import Builder
from fictl.judge.once.shelf import Shelf
from fictl.judge.process.order_desk import NotBuilt
from fictl.judge.reference import Reference
from fictl.trace import Evaluation, Solution

from ..judge_runs import CONFIG, WORKLOAD, definition

CPP = """
#include <tvm/ffi/c_api.h>
#include <cstdint>
#include "factor.h"
static DLTensor* at(const TVMFFIAny& value) {
  if (value.type_index == kTVMFFIDLTensorPtr) return static_cast<DLTensor*>(value.v_ptr);
  return TVMFFITensorGetDLTensorPtr(value.v_obj);
}
extern "C" __attribute__((visibility("default"))) int __tvm_ffi_run(
    void*, const TVMFFIAny* args, int32_t, TVMFFIAny*) {
  DLTensor *x = at(args[0]), *y = at(args[2]);
  for (int64_t i = 0; i < x->shape[0] * x->shape[1]; ++i)
    static_cast<float*>(y->data)[i] =
        static_cast<const float*>(x->data)[i] * static_cast<float>(args[1].v_float64) * FACTOR;
  return 0;
}
"""
RIGHT, WRONG, BROKEN = "#define FACTOR 1.0f\n", "#define FACTOR 2.0f\n", "#error of nobody's\n"
SECONDS = 100.0
QUICK = replace(CONFIG, profile_baseline=False)


def cpp(header: str = RIGHT, name: str = "tried", source: str = CPP) -> Solution:
    spec = {
        "language": "cpp",
        "target_hardware": ["cpu"],
        "entry_point": "main.cpp::run",
        "destination_passing_style": True,
    }
    sources = [{"path": "main.cpp", "content": source}, {"path": "factor.h", "content": header}]
    return Solution.model_validate(
        {"name": name, "definition": "scale", "author": "me", "spec": spec, "sources": sources}
    )


@contextmanager
def building(at_once: int = 1) -> Iterator[tuple[Builder, Shelf]]:
    shelf = Shelf(secrets.token_hex(8))
    builder = Builder(shelf, at_once)
    try:
        yield builder, shelf
    finally:
        builder.close()


def built(shelf: Shelf) -> list[str]:
    """Keys of what is on the shelf."""
    return sorted(path.name for path in shelf.folder.iterdir() if not path.name.startswith("."))


def evaluated(solution: Solution, builder: Builder, reference: Reference) -> Evaluation:
    """Evaluate, and wait for what is ordered, as a worker does."""
    with Judge(definition(), solution, QUICK, builder=builder, reference=reference) as judge:
        while True:
            try:
                return judge.evaluate(WORKLOAD)
            except NotBuilt as missing:
                builder.wait(missing.key, SECONDS)
