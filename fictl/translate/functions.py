"""The functions that a translated function may call."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fictl.translate.value import ATOM, CHOICE, Type, Value, combined

Call = Callable[[Sequence[Value]], Value]

# For why exp and tanh are approximate, see fictl/device/functions.cuh.
_OF_FLOATS = {
    "exp": "fictl::device::fast_exp",
    "tanh": "fictl::device::fast_tanh",
    "sigmoid": "fictl::device::sigmoid",
    "exp2": "exp2f",
    "log": "logf",
    "log2": "log2f",
    "sqrt": "sqrtf",
    "rsqrt": "rsqrtf",
    "sin": "sinf",
    "cos": "cosf",
    "erf": "erff",
}
_ROUNDED = {"floor": "floorf", "ceil": "ceilf", "round": "rintf"}
# torch's and numpy's names of Python's functions.
_ALIASES = {"maximum": "max", "minimum": "min", "absolute": "abs", "fabs": "abs"}


def joined(values: Sequence[Value]) -> Type:
    return max(value.type for value in values)


def function(name: str) -> tuple[Call, range] | None:
    """Return a function's writer and its possible numbers of arguments; None if unknown."""
    name = _ALIASES.get(name, name)
    if name in _OF_FLOATS:
        return lambda values: _of_floats(_OF_FLOATS[name], values), range(1, 2)
    if name in _ROUNDED:
        return lambda values: _rounded(_ROUNDED[name], values), range(1, 2)
    return _OTHERS.get(name)


def _of_floats(called: str, values: Sequence[Value]) -> Value:
    headers = ["functions"] if "::" in called else []
    return combined(f"{called}({values[0].as_float.text})", Type.FLOAT, ATOM, values, headers)


def _rounded(called: str, values: Sequence[Value]) -> Value:
    """Round to an integer, as Python's math functions do."""
    if values[0].type is not Type.FLOAT:
        return _int(values)
    text = f"static_cast<int>({called}({values[0].text}))"
    return combined(text, Type.INT, ATOM, values)


def _abs(values: Sequence[Value]) -> Value:
    kind = max(values[0].type, Type.INT)
    called = "fabsf" if kind is Type.FLOAT else "abs"
    return combined(f"{called}({values[0].text})", kind, ATOM, values)


def _int(values: Sequence[Value]) -> Value:
    if values[0].type is Type.INT:
        return values[0]
    return combined(f"static_cast<int>({values[0].text})", Type.INT, ATOM, values)


def _extreme(name: str) -> Call:
    def write(values: Sequence[Value]) -> Value:
        kind = max(joined(values), Type.INT)
        called = f"f{name}f" if kind is Type.FLOAT else name
        text = values[-1].text
        for condition in reversed(values[:-1]):
            text = f"{called}({condition.text}, {text})"
        return combined(text, kind, ATOM, values)

    return write


def choice(values: Sequence[Value]) -> Value:
    """Write `a if condition else b`; values: condition, a, b."""
    condition, one, other = values
    text = f"{condition.as_condition.within(CHOICE + 1)} ? {one.within(CHOICE + 1)} : {other.text}"
    return combined(text, joined(values[1:]), CHOICE, values)


_OTHERS: dict[str, tuple[Call, range]] = {
    "abs": (_abs, range(1, 2)),
    "bool": (lambda values: values[0].as_condition, range(1, 2)),
    "float": (lambda values: values[0].as_float, range(1, 2)),
    "int": (_int, range(1, 2)),
    "max": (_extreme("max"), range(2, 9)),
    "min": (_extreme("min"), range(2, 9)),
    "where": (choice, range(3, 4)),
}

NAMES = sorted({*_OF_FLOATS, *_ROUNDED, *_OTHERS})
