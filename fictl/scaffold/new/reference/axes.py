"""Names for the axes of a call: equal sizes are one axis, and an output's follow from inputs'."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from fictl.dtype import parse_dtype
from fictl.errors import UsageError
from fictl.scaffold.new.reference.call import CallValue
from fictl.scaffold.new.reference.parameters import ReferenceParameter

_USUAL = {
    1: ("n",),
    2: ("rows", "hidden"),
    3: ("batch", "rows", "hidden"),
    4: ("batch", "heads", "rows", "hidden"),
}
_PRODUCT = (("m", "k"), ("n", "k"))


class Axes:
    """Axes of one call. `kind` is the op's, if its axes have names of their own."""

    def __init__(self, kind: str = "") -> None:
        self._names: dict[int, str] = {}
        self._product = kind == "gemm"
        self._case, self._said_case = "", ""

    def inputs(
        self, tensors: Sequence[ReferenceParameter], values: Mapping[str, CallValue]
    ) -> list[str]:
        """Inputs as --input takes them. Those with given axes come first."""
        shapes = {tensor.name: _shape(tensor.name, values[tensor.name]) for tensor in tensors}
        self._set_case(tensors, values)
        for tensor in (p for p in tensors if p.axes):
            self._learn(tensor, shapes[tensor.name])
        return [
            f"{p.name}:{p.axes or ','.join(self._name(number, p.name, shapes[p.name]))}"
            f"{self._dtype(p, values[p.name])}"
            for number, p in enumerate(tensors)
        ]

    def outputs(
        self,
        results: Sequence[ReferenceParameter],
        values: Sequence[CallValue],
        texts: Sequence[str],
    ) -> list[str]:
        """Outputs as --output takes them."""
        if texts:
            return [*texts]
        return [
            f"{p.name}:{p.axes or ','.join(self._follow(p.name, _shape(p.name, value)))}"
            f"{self._dtype(p, value)}"
            for p, value in zip(results, values, strict=True)
        ]

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

    def _follow(self, tensor: str, shape: Sequence[int]) -> Iterator[str]:
        for dim, size in enumerate(shape):
            known = self._names.get(size)
            formula = known or next(self._formulas(size), "")
            if not formula:
                sizes = ", ".join(f"{name} = {size}" for size, name in self._names.items())
                raise UsageError(
                    f"dimension {dim} of the output {tensor} is {size}, which follows from no axis",
                    f"axes are {sizes}; say it with --output, as in --output {tensor}:n,k=8",
                )
            yield formula

    def _formulas(self, size: int) -> Iterator[str]:
        """The simplest first."""
        for other, name in self._names.items():
            for factor in (2, 4, 8):
                if other == size * factor:
                    yield f"{name}_over_{factor}={name} // {factor}"
                if size == other * factor:
                    yield f"{name}_times_{factor}={name} * {factor}"
        for a, first in self._names.items():
            for b, second in self._names.items():
                if a * b == size:
                    yield f"{first}_{second}={first} * {second}"
                if a + b == size:
                    yield f"{first}_plus_{second}={first} + {second}"

    def _dtype(self, tensor: ReferenceParameter, value: CallValue) -> str:
        """Empty where it is the case's."""
        if tensor.dtype:
            return "" if tensor.dtype == self._said_case else f":{tensor.dtype}"
        return "" if value.dtype == self._case else f":{parse_dtype(value.dtype).short}"


def _shape(name: str, value: CallValue) -> tuple[int, ...]:
    if not value.shape:
        raise UsageError(
            f"{name} is a tensor without axes",
            "a number is passed as a float; an output has an axis at least: keepdim=True",
        )
    return value.shape
