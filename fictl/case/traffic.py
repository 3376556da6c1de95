"""Bytes that a call reads and writes, counted from its trace without allocating tensors."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from fictl.case.outputs import case_sizes
from fictl.case.subject import Subject
from fictl.dtype import parse_dtype
from fictl.trace import Case, Tensor
from fictl.trace.extract import case_dtypes


def moved(subject: Subject, case: Case) -> int:
    """Count the bytes that one call reads and writes; a tensor changed in place counts twice."""
    read, written = tensor_bytes(subject, case)
    changed = {*subject.mutates} - {*written}
    return sum(read.values()) + sum(written.values()) + sum(_sizes_of(read, changed))


def touched(subject: Subject, case: Case) -> int:
    """Count the bytes of memory that one call needs; a tensor changed in place counts once."""
    read, written = tensor_bytes(subject, case)
    return sum({**read, **written}.values())


def tensor_bytes(subject: Subject, case: Case) -> tuple[dict[str, int], dict[str, int]]:
    """Count the bytes of the inputs by parameter, and of the outputs."""
    template = subject.template
    sizes, dtypes = case_sizes(template, case), case_dtypes(template, case.dtype, case.passing)

    def size(name: str, tensor: Tensor) -> int:
        elements = math.prod(sizes[axis] for axis in tensor.axes)
        return elements * parse_dtype(dtypes[name]).bytes

    read = {
        template.parameter(name): size(name, tensor)
        for name, tensor in template.input_tensors()
        if name in dtypes
    }
    return read, {name: size(name, tensor) for name, tensor in template.outputs.items()}


def _sizes_of(sizes: Mapping[str, int], names: Iterable[str]) -> list[int]:
    return [sizes[name] for name in names if name in sizes]
