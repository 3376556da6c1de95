"""Selection of the tested variants: all cases as they are, a few in every other way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from fictl.errors import UsageError
from fictl.testing.generated.layout import MemoryLayout
from fictl.testing.generated.variant import CaseVariant
from fictl.trace import Case, Tensor, TraceTemplate, Var
from fictl.trace.extract import case_dtypes

# Largest size of a case that represents all cases of its dtype.
_SMALL_ELEMENTS = 1 << 15
_FEW = 2


def variants(template: TraceTemplate, cases: Sequence[Case], seed: int) -> Iterator[CaseVariant]:
    """Yield every case of one function as it is, and a few of each dtype in every other way."""
    for case in cases:
        yield CaseVariant(case, MemoryLayout.CONTIGUOUS, seed)
    for group in _alike(cases):
        few = _few(template, group)
        for case in few:
            for layout in _layouts(template, case):
                yield CaseVariant(case, layout, seed)
        for values in _extremes(template, few[0]):
            yield CaseVariant(few[0], MemoryLayout.CONTIGUOUS, seed, values)
        for case in (*_empty(template, few[0]), *_passing(template, few[0])):
            if case not in cases:
                yield CaseVariant(case, MemoryLayout.CONTIGUOUS, seed, declared=False)


def _alike(cases: Sequence[Case]) -> list[list[Case]]:
    """Group cases by dtype, optional inputs and scalars."""
    groups: dict[tuple[str, tuple[str, ...]], list[Case]] = {}
    for case in cases:
        groups.setdefault((case.dtype, case.manner), []).append(case)
    return [*groups.values()]


def _few(template: TraceTemplate, cases: Sequence[Case]) -> list[Case]:
    """Choose the largest of the small cases, or the smallest case."""

    def elements(case: Case) -> int:
        return template.elements(case.sizes, case.passing)

    ordered = sorted(cases, key=elements)
    small = [case for case in ordered if elements(case) <= _SMALL_ELEMENTS]
    return small[-_FEW:] or ordered[:1]


def _tensors(template: TraceTemplate, case: Case) -> list[Tensor]:
    """Return the inputs that are passed."""
    return [t for name, t in template.input_tensors() if not t.optional or name in case.passing]


def _layouts(template: TraceTemplate, case: Case) -> Iterator[MemoryLayout]:
    dimensions = [len(tensor.axes) for tensor in _tensors(template, case)]
    return (layout for layout in MemoryLayout if any(layout.differs(ndim) for ndim in dimensions))


def _extremes(template: TraceTemplate, case: Case) -> tuple[str, ...]:
    """Return extreme values to test; none if an output is an index, which ties leave undefined."""
    dtypes = case_dtypes(template, case.dtype, case.passing)
    outputs = all("float" in dtypes[name] for name in template.outputs)
    inputs = any("float" in dtypes[n] for n, _ in template.input_tensors() if n in dtypes)
    return template.extremes if outputs and inputs else ()


def _empty(template: TraceTemplate, case: Case) -> Iterator[Case]:
    """Yield empty cases, one for each axis whose size changes from call to call."""
    for name in case.sizes:
        if isinstance(template.axes.get(name), Var):
            changed = replace(case, sizes={**case.sizes, name: 0})
            if _is_possible(template, changed):
                yield changed


def _passing(template: TraceTemplate, case: Case) -> Iterator[Case]:
    """Yield cases with no optional input, with one, and with all."""
    optional = tuple(name for name, spec in template.input_tensors() if spec.optional)
    ways = [(), *((name,) for name in optional), optional] if optional else []
    for passing in dict.fromkeys(ways):
        changed = replace(case, passing=passing)
        if passing != case.passing and _is_possible(template, changed):
            yield changed


def _is_possible(template: TraceTemplate, case: Case) -> bool:
    with suppress(UsageError):
        absent = template.optional_axes(case.passing)
        return min(template.check_sizes(case.sizes, absent=absent).values(), default=0) >= 0
    return False
