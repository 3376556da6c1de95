"""Guess: a part of a new op that nothing said, and the words of the command line that say it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from fictl.scaffold.kinds.kind import Kind
from fictl.scaffold.new.request import NewOpRequest
from fictl.scaffold.new.signature import Signature, parse_scalar

_GELU = re.compile(r"\bgelu\s*\(")
# Names that nobody gives to a tensor.
_NUMBERS = ("eps", "epsilon")


@dataclass(frozen=True)
class Guess:
    """`about` names its subjects; `text` says what was assumed; `instead` are options, ready to
    paste, for when it is something else.
    """

    about: tuple[str, ...]
    text: str
    instead: str

    def to_dict(self) -> dict[str, object]:
        return asdict(self)


def guessed_numbers(kind: Kind, request: NewOpRequest, signature: Signature) -> tuple[Guess, ...]:
    """A guess about names that are numbers only because nothing says that they are tensors."""
    names = unsaid_numbers(kind, request, signature)
    if not names:
        return ()
    many = len(names) > 1
    are = f"{listed(names)} {'are numbers' if many else 'is a number'}"
    say = " ".join(_scalars(f"{name}:float" for name in names))
    row = f" ({names[0]}:{_columns(signature)} is one row for all)" if _has_rows(kind) else ""
    text = f"{are} ({say} says so, without a guess); for {'tensors' if many else 'a tensor'}{row}"
    return (Guess(names, text, " ".join(as_tensors(request, signature, names))),)


def guessed_functions(request: NewOpRequest) -> tuple[Guess, ...]:
    """A guess about a function whose name stands for two."""
    if not _GELU.search(request.expression):
        return ()
    other = _GELU.sub("gelu_tanh(", request.expression)
    text = "gelu is by the error function, as torch's; for its approximation by tanh"
    return (Guess(("gelu",), text, f"--expr {shlex.quote(other)}"),)


def unsaid_numbers(kind: Kind, request: NewOpRequest, signature: Signature) -> tuple[str, ...]:
    """The names that could be tensors as well; none where the kind takes no further tensor."""
    if not (request.expression and kind.more):
        return ()
    declared = {parse_scalar(text).name for text in request.scalars} | {*_NUMBERS}
    return tuple(scalar.name for scalar in signature.scalars if scalar.name not in declared)


def as_tensors(request: NewOpRequest, signature: Signature, names: Sequence[str]) -> list[str]:
    """The options that make these names tensors of the first input's shape."""
    own = request.inputs or tuple(map(str, signature.inputs))
    axes = ",".join(signature.inputs[0].axis_names)
    tensors = (*own, *(f"{name}:{axes}" for name in names))
    declared = {parse_scalar(text).name for text in request.scalars}
    others = [str(scalar) for scalar in signature.scalars if scalar.name not in {*declared, *names}]
    return [*_options("--input", tensors), *_scalars((*request.scalars, *others))]


def _scalars(texts: Iterable[str]) -> list[str]:
    return _options("--scalar", texts)


def _options(flag: str, texts: Iterable[str]) -> list[str]:
    return [f"{flag} {shlex.quote(text)}" for text in texts]


def _has_rows(kind: Kind) -> bool:
    return any("," not in pattern and "*" not in pattern for pattern in kind.more)


def _columns(signature: Signature) -> str:
    return signature.inputs[0].axis_names[-1]


def listed(names: Sequence[str]) -> str:
    """`x`, `x and y`, `x, y and z`."""
    *before, last = names
    return f"{', '.join(before)} and {last}" if before else last
