"""Names for the axes of a call: equal sizes are one axis, and an output's follow from inputs'."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from fictl.dtype import parse_dtype
from fictl.errors import UsageError
from fictl.scaffold.new.guess import Guess
from fictl.scaffold.new.reference.call import CallValue
from fictl.scaffold.new.reference.parameters import ReferenceParameter
from fictl.scaffold.new.reference.readings import (
    SizeReading,
    fixed_name,
    formulas,
    readings,
    repeated,
)

_USUAL = {
    1: ("n",),
    2: ("rows", "hidden"),
    3: ("batch", "rows", "hidden"),
    4: ("batch", "heads", "rows", "hidden"),
}
_PRODUCT = (("m", "k"), ("n", "k"))


class Axes:
    """Axes of one call. `kind` is the op's, if its axes have names of their own. Sizes of an example
    are its author's, so that two may be equal by chance; sizes that fictl invents are not.
    """

    def __init__(self, kind: str = "", from_example: bool = False) -> None:
        self._names: dict[int, str] = {}
        self._product = kind == "gemm"
        self._case, self._said_case = "", ""
        self._from_example = from_example
        self._shapes: list[tuple[str, ...]] = []
        self._guesses: list[Guess] = []

    @property
    def guesses(self) -> tuple[Guess, ...]:
        """Guesses from the sizes of an example."""
        return tuple(self._guesses)

    def inputs(
        self, tensors: Sequence[ReferenceParameter], values: Mapping[str, CallValue]
    ) -> list[str]:
        """Inputs as --input takes them. Those with given axes come first."""
        shapes = {tensor.name: _shape(tensor.name, values[tensor.name]) for tensor in tensors}
        self._set_case(tensors, values)
        for tensor in (p for p in tensors if p.axes):
            self._learn(tensor, shapes[tensor.name])
        texts = []
        for number, p in enumerate(tensors):
            axes = p.axes or ",".join(self._name(number, p.name, shapes[p.name]))
            self._shapes.append(tuple(axis.partition("=")[0] for axis in axes.split(",")))
            if not p.axes:
                self._note_equal(p.name, shapes[p.name])
            texts.append(f"{p.name}:{axes}{self._dtype(p, values[p.name])}")
        return texts

    def outputs(
        self,
        results: Sequence[ReferenceParameter],
        values: Sequence[CallValue],
        texts: Sequence[str],
    ) -> list[str]:
        """Outputs as --output takes them."""
        if texts:
            return self._said(results, texts)
        readings_of = [
            [SizeReading(p.axes)] if p.axes else [*self._follow(_shape(p.name, value))]
            for p, value in zip(results, values, strict=True)
        ]
        dtypes = [self._dtype(p, value) for p, value in zip(results, values, strict=True)]
        names = [p.name for p in results]
        for number, axes in enumerate(readings_of):
            for dim, reading in enumerate(axes):
                fixed = _texts(names, readings_of, dtypes, {(number, dim)})
                size = (values[number].shape or ())[dim] if reading.fixed else 0
                if not reading.is_sure:
                    self._refuse(names[number], dim, size, _texts(names, readings_of, dtypes))
                if reading.fixed:
                    self._note_computed(names[number], size, reading, fixed)
        return _texts(names, readings_of, dtypes)

    def _said(self, results: Sequence[ReferenceParameter], texts: Sequence[str]) -> list[str]:
        if len(texts) != len(results):
            raise UsageError(
                f"--output names {len(texts)} of {len(results)} outputs",
                f"say each, in the order of the return: {', '.join(p.name for p in results)}",
            )
        return [*texts]

    def _set_case(
        self, tensors: Sequence[ReferenceParameter], values: Mapping[str, CallValue]
    ) -> None:
        floating = [p for p in tensors if "float" in values[p.name].dtype]
        first = next(iter(floating or tensors), None)
        if first is not None:
            self._case, self._said_case = values[first.name].dtype, first.dtype

    def _learn(self, tensor: ReferenceParameter, shape: Sequence[int]) -> None:
        axes = [axis.partition("=")[0] for axis in tensor.axes.split(",")]
        for axis, size in zip(reversed(axes), reversed(shape), strict=False):
            self._names.setdefault(size, axis)

    def _name(self, number: int, tensor: str, shape: Sequence[int]) -> Iterator[str]:
        usual: tuple[str, ...] = _USUAL.get(len(shape), ())
        if self._product and number < len(_PRODUCT):
            usual = _PRODUCT[number]
        for dim, size in enumerate(shape):
            if size not in self._names:
                name = usual[dim] if usual else f"{tensor}_{dim}"
                taken = name in self._names.values()
                self._names[size] = f"{tensor}_{dim}" if taken else name
            yield self._names[size] if size != 1 else f"{self._names[size]}=1"

    def _note_equal(self, tensor: str, shape: Sequence[int]) -> None:
        """Say that two dimensions of one tensor are one axis because their sizes are equal."""
        axis = repeated([self._names[size] for size in shape if size != 1])
        if not (self._from_example and axis):
            return
        size = next(size for size, name in self._names.items() if name == axis)
        apart = ",".join(
            f"{axis}_{dim}" if n == size else self._names[n] for dim, n in enumerate(shape)
        )
        text = f"the dimensions of {tensor} that are {size} in the example are one axis, {axis}; for several"
        self._guesses.append(Guess((tensor,), text, _options("--input", [f"{tensor}:{apart}"])))

    def _follow(self, shape: Sequence[int]) -> Iterator[SizeReading]:
        """The likeliest reading of each dimension."""
        twice = repeated([self._names.get(size, "") for size in shape if size in self._names])
        by_chance = twice and not any(axes.count(twice) > 1 for axes in self._shapes)
        for dim, size in enumerate(shape):
            name = self._names.get(size)
            if name and not (self._from_example and by_chance and name == twice and dim):
                yield SizeReading(name)
            else:
                yield self._computed(size, self._beside(len(shape), dim))

    def _computed(self, size: int, beside: str) -> SizeReading:
        """An invented size tells by itself; an example's only if nothing else comes to mind."""
        fixed = f"{fixed_name(self._names)}={size}"
        unsure = SizeReading(fixed, fixed=fixed, is_sure=False)
        if not self._from_example:
            return next(formulas(size, self._names), unsure)
        first, *others = readings(size, self._names, beside)
        if others or size in self._names or not first.base:
            return unsure
        return replace(first, fixed=fixed)

    def _beside(self, rank: int, dim: int) -> str:
        """The axis of the first input of as many dimensions in that place."""
        return next((axes[dim] for axes in self._shapes if len(axes) == rank), "")

    def _note_computed(
        self, tensor: str, size: int, reading: SizeReading, fixed: Sequence[str]
    ) -> None:
        text = (
            f"{tensor}'s {reading.axis.partition('=')[0]} is {reading.words}, {size} in the example; "
            f"if it is {size} in every call"
        )
        self._guesses.append(Guess((tensor,), text, _options("--output", fixed)))

    def _refuse(self, tensor: str, dim: int, size: int, outputs: Sequence[str]) -> None:
        equal = [SizeReading(self._names[size])] if size in self._names else []
        derived = [*formulas(size, self._names)] if self._from_example else []
        may_be = ", ".join(reading.words for reading in (*equal, *derived))
        sizes = ", ".join(f"{name} is {size}" for size, name in self._names.items())
        paste = _options("--output", outputs)
        what = f"dimension {dim} of the output {tensor} is {size}"
        if not may_be:
            raise UsageError(
                f"{what}, which follows from no axis: {sizes}",
                f"say what it is; if it is {size} in every call: {paste}",
            )
        raise UsageError(
            f"{what} in the example, where {sizes}: it may be {may_be}, or {size} in every call",
            f"say it, or show sizes that tell it, such as 22, 26 and 34; if it is {size} in every "
            f"call: {paste}",
        )

    def _dtype(self, tensor: ReferenceParameter, value: CallValue) -> str:
        """Empty where it is the case's."""
        if tensor.dtype:
            return "" if tensor.dtype == self._said_case else f":{tensor.dtype}"
        return "" if value.dtype == self._case else f":{parse_dtype(value.dtype).short}"


def _texts(
    names: Sequence[str],
    readings_of: Sequence[Sequence[SizeReading]],
    dtypes: Sequence[str],
    fixed: Collection[tuple[int, int]] = (),
) -> list[str]:
    """Outputs as --output takes them, with fixed sizes in these places (number, dimension)."""
    return [
        f"{name}:"
        + ",".join(r.fixed if (number, dim) in fixed else r.axis for dim, r in enumerate(axes))
        + dtype
        for number, (name, axes, dtype) in enumerate(zip(names, readings_of, dtypes, strict=True))
    ]


def _options(flag: str, texts: Sequence[str]) -> str:
    return " ".join(f"{flag} {shlex.quote(text)}" for text in texts)


def _shape(name: str, value: CallValue) -> tuple[int, ...]:
    if not value.shape:
        raise UsageError(
            f"{name} is a tensor without axes",
            "a number is passed as a float; an output has an axis at least: keepdim=True",
        )
    return value.shape
