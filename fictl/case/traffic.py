"""What a call reads and writes, in bytes, as its trace says it: no tensor is made for it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from fictl.case.subject import Subject
from fictl.dtype import parse_dtype
from fictl.trace import Case, Tensor
from fictl.trace.extract import case_dtypes


def moved(subject: Subject, case: Case) -> int:
    """Every input read, every output written; what is changed in place counts twice."""
    read, written = _tensors(subject, case)
    changed = {*subject.mutates} - {*written}
    return sum(read.values()) + sum(written.values()) + sum(_of(read, changed))


def touched(subject: Subject, case: Case) -> int:
    """The memory that one call needs; what is changed in place counts once."""
    read, written = _tensors(subject, case)
    return sum({**read, **written}.values())


def case_sizes(subject: Subject, case: Case) -> dict[str, int]:
    """Of all axes that the case has."""
    template = subject.template
    return template.check_sizes(case.sizes, absent=template.optional_axes(case.passing))


def _tensors(subject: Subject, case: Case) -> tuple[dict[str, int], dict[str, int]]:
    """Inputs by parameter, and outputs."""
    template = subject.template
    sizes, dtypes = case_sizes(subject, case), case_dtypes(template, case.dtype, case.passing)

    def size(name: str, tensor: Tensor) -> int:
        elements = math.prod(sizes[axis] for axis in tensor.axes)
        return elements * parse_dtype(dtypes[name]).bytes

    read = {
        template.parameter(name): size(name, tensor)
        for name, tensor in template.input_tensors()
        if name in dtypes
    }
    return read, {name: size(name, tensor) for name, tensor in template.outputs.items()}


def _of(sizes: Mapping[str, int], names: Iterable[str]) -> list[int]:
    return [sizes[name] for name in names if name in sizes]
