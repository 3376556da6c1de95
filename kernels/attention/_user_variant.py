"""UserVariant: what a user does to scores, as the C++ that a module is built with."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from fictl.op.translate import (
    Parameter,
    PythonFunction,
    Result,
    Type,
    Value,
    body,
    identifier,
    read_function,
)

# What the parameters of a user's functions stand for, by their names.
_PLACES = {
    **dict.fromkeys(("q_idx", "qo_idx"), "at.query"),
    "kv_idx": "at.key",
    **dict.fromkeys(("head", "head_idx", "qo_head_idx"), "at.head"),
    **dict.fromkeys(("kv_head", "kv_head_idx"), "at.kv_head"),
    **dict.fromkeys(("batch", "batch_idx", "request"), "at.request"),
    **dict.fromkeys(("q_len", "qo_len"), "at.q_len"),
    "kv_len": "at.kv_len",
}
# What a scalar cannot be called in C++: these are in every variant.
_TAKEN = frozenset(
    ["at", "dim", "keeps", "logit", "made", "of", "output", "scalars", "transform", "value"]
)
_STRUCT = re.compile(r"\bstruct\s+(?:alignas\([^)]*\)\s+)?([A-Za-z_]\w*)\s*(?:final\s*)?:")


@dataclass(frozen=True)
class Scalar:
    """A number that run() takes besides the tensors. `default` is None where it has to be given."""

    name: str
    type: Type = Type.FLOAT
    default: float | int | bool | None = None


@dataclass(frozen=True)
class UserVariant:
    """`text` stands outside of any namespace, and defines the struct `name`, which derives from
    fictl::attention::Plain; `name::of(const double*)` makes one of the values of `scalars`.
    """

    name: str
    text: str
    scalars: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Function:
    """Of the struct: where it stands, and what Python calls what it gets."""

    flag: str
    head: str
    result: Result
    own: Mapping[str, Value]


_NUMBERS = ("logit", "logits", "score")
_MASK = _Function(
    "kMasks", "bool keeps(const fictl::attention::Place& at) const", Result.CONDITION, {}
)
_LOGITS = _Function(
    "kTransforms",
    "float transform(float logit, const fictl::attention::Place& at) const",
    Result.NUMBER,
    dict.fromkeys(_NUMBERS, Value("logit", Type.FLOAT, inexact=True)),
)
_OUTPUT = _Function(
    "kOutputs",
    "float output(float value, const fictl::attention::Place& at, int dim) const",
    Result.NUMBER,
    {"value": Value("value", Type.FLOAT, inexact=True), "dim": Value("dim", Type.INT)},
)


def of_functions(
    mask: Callable[..., object] | None,
    logits: Callable[..., object] | None,
    output: Callable[..., object] | None,
) -> tuple[UserVariant, tuple[Scalar, ...]]:
    """Of Python's functions, of which there is at least one."""
    given = [(_MASK, mask), (_LOGITS, logits), (_OUTPUT, output)]
    read = [(place, read_function(each)) for place, each in given if each is not None]
    scalars = _scalars(read)
    fields = _fields(scalars)
    headers: set[str] = set()
    parts: list[str] = []
    for place, function in read:
        lines, needed = body(function, _values(place, function, scalars, fields), place.result)
        headers |= needed
        parts.append(_function(place, lines))
    name = _struct_name(read[0][1])
    divisors = _divisors(scalars, fields, "\n".join(parts))
    if scalars:
        parts.insert(0, _members(scalars, fields, divisors))
    parts.append(_maker(name, scalars, fields, divisors))
    includes = [f"#include <fictl/device/{each}.cuh>\n" for each in sorted(headers)]
    inside = "\n\n".join(parts)
    text = f"struct {name} : fictl::attention::Plain {{\n{inside}\n}};\n"
    said = "\n".join(["".join(includes), text]) if includes else text
    return UserVariant(name, said, tuple(each.name for each in scalars)), scalars


def of_text(text: str, scalars: Sequence[str]) -> tuple[UserVariant, tuple[Scalar, ...]]:
    """Of C++ as it is; the last struct in it that derives from something is the variant."""
    names = _STRUCT.findall(text)
    if not names:
        raise ValueError(
            "define_variant: argument 'text' has no struct that derives from "
            "fictl::attention::Plain; write `struct Mine : fictl::attention::Plain { … };`"
        )
    name = str(names[-1])
    if not re.search(rf"static\s+{name}\s+of\s*\(\s*const\s+double\s*\*", text):
        raise ValueError(
            f"define_variant: argument 'text' does not say how a {name} is made of its scalars; "
            f"write `static {name} of(const double* scalars) {{ … }}` in it"
        )
    for each in scalars:
        if not each.isidentifier():
            raise ValueError(
                f"define_variant: argument 'scalars' has {each!r}, which is no name of Python's"
            )
    return UserVariant(name, text, tuple(scalars)), tuple(map(Scalar, scalars))


def _scalars(read: Sequence[tuple[_Function, PythonFunction]]) -> tuple[Scalar, ...]:
    """Each once, in the order in which they are met."""
    found: dict[str, Scalar] = {}
    for place, function in read:
        for each in function.parameters:
            if each.name in _PLACES or each.name in place.own:
                continue
            found[each.name] = _joined(found.get(each.name), each, function)
    return tuple(found.values())


def _joined(known: Scalar | None, each: Parameter, function: PythonFunction) -> Scalar:
    """Two functions may share a scalar, of which one may say more."""
    new = Scalar(each.name, Type.FLOAT if each.type is None else each.type, each.default)
    if known is None:
        return new
    said = known.type if each.type is None else new.type
    default = known.default if each.default is None else each.default
    differ = known.default is not None and default != known.default
    if said is not known.type or differ:
        raise function.refused(
            each.node,
            f"{each.name!r} is another number here than in the function before",
            "give it one type and one default, or two names",
        )
    return Scalar(each.name, said, default)


def _fields(scalars: Sequence[Scalar]) -> dict[str, str]:
    """What each is called in C++."""
    found: dict[str, str] = {}
    for each in scalars:
        found[each.name] = identifier(each.name, _TAKEN | {*found.values()})
    return found


def _values(
    place: _Function,
    function: PythonFunction,
    scalars: Sequence[Scalar],
    fields: Mapping[str, str],
) -> dict[str, Value]:
    """Of the parameters that this function has."""
    named = {
        each.name: Value(fields[each.name], each.type, uniform=True, divisor=_divisor(each, fields))
        for each in scalars
    }
    places = {name: Value(text, Type.INT) for name, text in _PLACES.items()}
    known = {**places, **named, **place.own}
    return {each.name: known[each.name] for each in function.parameters}


def _divisor(scalar: Scalar, fields: Mapping[str, str]) -> str:
    """What the host makes of it for divisions in the kernel."""
    start = {Type.FLOAT: "inverse_of_", Type.INT: "by_"}.get(scalar.type)
    taken = frozenset(fields.values())
    return identifier(f"{start}{fields[scalar.name]}", taken) if start else ""


def _divisors(
    scalars: Sequence[Scalar], fields: Mapping[str, str], text: str
) -> list[tuple[Scalar, str]]:
    """Those that the functions use."""
    named = ((each, _divisor(each, fields)) for each in scalars)
    return [(each, name) for each, name in named if name and re.search(rf"\b{name}\b", text)]


def _members(
    scalars: Sequence[Scalar], fields: Mapping[str, str], divisors: Sequence[tuple[Scalar, str]]
) -> str:
    types = {Type.FLOAT: "float", Type.INT: "fictl::device::FloorDivisor"}
    members = [f"{each.type.cpp} {fields[each.name]};" for each in scalars]
    members += [f"{types[each.type]} {name};" for each, name in divisors]
    return "\n".join(f"  {member}" for member in members)


def _function(place: _Function, lines: Sequence[str]) -> str:
    inside = "\n".join(f"    {line}" for line in lines)
    flag = f"  static constexpr bool {place.flag} = true;"
    return f"{flag}\n  __device__ {place.head} {{\n{inside}\n  }}"


def _maker(
    name: str,
    scalars: Sequence[Scalar],
    fields: Mapping[str, str],
    divisors: Sequence[tuple[Scalar, str]],
) -> str:
    if not scalars:
        return f"  static {name} of(const double*) {{ return {{}}; }}"
    inside = "\n".join([*_made(scalars, fields), *_made_divisors(fields, divisors)])
    return (
        f"  static {name} of(const double* scalars) {{\n    {name} made;\n{inside}\n"
        "    return made;\n  }"
    )


def _made(scalars: Sequence[Scalar], fields: Mapping[str, str]) -> Iterator[str]:
    for number, each in enumerate(scalars):
        value = f"scalars[{number}]"
        said = (
            f"{value} != 0" if each.type is Type.BOOL else f"static_cast<{each.type.cpp}>({value})"
        )
        yield f"    made.{fields[each.name]} = {said};"


def _made_divisors(
    fields: Mapping[str, str], divisors: Sequence[tuple[Scalar, str]]
) -> Iterator[str]:
    for each, name in divisors:
        field = f"made.{fields[each.name]}"
        inverse, divisor = f"1.0f / {field}", f"fictl::device::FloorDivisor({field})"
        yield f"    made.{name} = {inverse if each.type is Type.FLOAT else divisor};"


def _struct_name(function: PythonFunction) -> str:
    """sliding_window -> SlidingWindowVariant; the ending keeps it apart from what CUDA has."""
    words = re.findall(r"[A-Za-z0-9]+", function.name)
    camel = "".join(word[:1].upper() + word[1:] for word in words)
    return f"{camel}Variant" if camel[:1].isalpha() else "UserVariant"
