"""Reads documents strictly: errors name file, line and field."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, TypeVar

from pydantic import BaseModel, ValidationError

from fictl.errors import MissingFile, UsageError, unreadable
from fictl.trace.documents.json_line import last_line_with, line_of
from fictl.user_file import open_regular

Model = TypeVar("Model", bound=BaseModel)

# A trace keeps up to 5 MB of a log, of which JSON may make six times as much.
LONGEST_LINE = 32 << 20
_BOM = b"\xef\xbb\xbf"
_LONGEST_VALUE = 60
_DEEPEST = 100
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


@dataclass(frozen=True)
class Problem:
    """One error of a document; `line` is 0 if it concerns the whole file."""

    path: Path
    line: int
    field: str
    text: str

    def __str__(self) -> str:
        line = f":{self.line}" if self.line else ""
        return f"{self.path}{line}: {f'{self.field}: ' if self.field else ''}{self.text}"


class NotReadable(UsageError):
    """An invalid document, with all its problems."""

    code = "unreadable"

    def __init__(self, problems: list[Problem], hint: str = "") -> None:
        more = f"; and {len(problems) - 1} more" if len(problems) > 1 else ""
        super().__init__(f"{problems[0]}{more}", hint)
        self.problems = problems

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.problems, self.hint)


class NotThere(NotReadable, MissingFile):
    """A document whose file does not exist."""

    code = "missing-file"


def read_document(model: type[Model], path: Path, largest: int, hint: str = "") -> Model:
    """Read a JSON file of one document."""
    try:
        with open_regular(path) as file:
            size = os.fstat(file.fileno()).st_size
            if size > largest:
                _refuse(
                    path, 0, f"has {size} bytes: too large for a {model.__name__.lower()}", hint
                )
            data = file.read(largest)
    except OSError as error:
        raise _unreadable(path, error, hint) from None
    return parse_document(model, data, path, 0, hint)


def lines_of(path: Path) -> Iterator[tuple[int, bytes | NotReadable]]:
    """Yield lines that are not blank, with their numbers; very long lines are not kept in memory."""
    try:
        with open_regular(path) as file:
            for number, line in enumerate(iter(lambda: file.readline(LONGEST_LINE), b""), 1):
                if len(line) == LONGEST_LINE and not line.endswith(b"\n"):
                    _skip_line(file)
                    problem = f"a line of more than {LONGEST_LINE >> 20} MiB"
                    yield number, NotReadable([Problem(path, number, "", problem)])
                elif line.strip():
                    yield number, line
    except OSError as error:
        yield 0, _unreadable(path, error)


def parse_document(
    model: type[Model], data: bytes, path: Path, line: int = 0, hint: str = ""
) -> Model:
    """Parse one document; `line` is its line in the file, 0 if it is the whole file."""
    text = _text(data, path, line, hint)
    document = _json(text, path, line, hint)
    try:
        return model.model_validate(document)
    except ValidationError as error:
        problems = []
        for detail in error.errors(include_url=False):
            field = _field(detail["loc"], document)
            at = line or line_of(text, field)
            problems.append(Problem(path, at, ".".join(map(str, field)), _said(detail)))
        raise NotReadable(problems, hint) from None


def _text(data: bytes, path: Path, line: int, hint: str) -> str:
    if data.startswith(_BOM):
        _refuse(
            path, line or 1, "begins with a byte-order mark: save it as UTF-8 without one", hint
        )
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        at = line or data.count(b"\n", 0, error.start) + 1
        _refuse(path, at, f"byte {error.start} is not UTF-8 ({data[error.start]:#04x})", hint)


def _json(text: str, path: Path, line: int, hint: str) -> dict[str, Any]:
    try:
        document = _decoder().decode(text)
        if text.count("{") + text.count("[") > _DEEPEST:
            _refuse_deep(document)
        if _SURROGATE.search(text):
            json.dumps(document, ensure_ascii=False).encode("utf-8")
    except json.JSONDecodeError as error:
        at, column = (line, error.pos + 1) if line else (error.lineno, error.colno)
        cut = "; it is cut off" if error.pos >= len(text.rstrip()) else ""
        _refuse(path, at, f"not valid JSON: {error.msg} (column {column}){cut}", hint)
    except _Unclear as error:
        at = line or last_line_with(text, error.key)
        _refuse(path, at, error.text, hint)
    except RecursionError:
        _refuse(path, line or 1, "is nested too deeply", hint)
    except ValueError as error:  # A half of a character, or a number of thousands of digits.
        _refuse(path, line or 1, f"has a value that cannot be read: {error}"[:200], hint)
    if not isinstance(document, dict):
        _refuse(path, line or 1, f"is not a JSON object but {_short(document)}", hint)
    return document


def _refuse_deep(document: Any) -> None:
    """Refuse deep nesting, which would make writing it again fail."""
    level = [document] if isinstance(document, dict | list) else []
    for _ in range(_DEEPEST):
        level = [
            value
            for part in level
            for value in (part.values() if isinstance(part, dict) else part)
            if isinstance(value, dict | list)
        ]
    if level:
        raise RecursionError


class _Unclear(Exception):
    def __init__(self, text: str, key: str) -> None:
        super().__init__(text)
        self.text, self.key = text, key


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise _Unclear(f"{twice}: the name occurs twice in one object", twice)
    return value


@cache
def _decoder() -> json.JSONDecoder:
    """Return one decoder for all lines: to make one takes as long as to read a short line."""
    return json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant, parse_float=_float)


def _constant(word: str) -> NoReturn:
    raise _Unclear(f'{word} is not JSON: write "{word}", as text', word)


def _float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise _Unclear(f"{text} is too large for a 64-bit number", text)
    return value


def _field(loc: tuple[int | str, ...], document: Any) -> tuple[int | str, ...]:
    """Path of a field without the tags that pydantic adds; its last part may be missing."""
    path: list[int | str] = []
    for depth, part in enumerate(part for part in loc if part != "[key]"):
        try:
            document = document[part]
        except (LookupError, TypeError):
            if depth < len(loc) - 1 or not isinstance(document, dict):
                continue
        path.append(part)
    return tuple(path)


def _said(error: Any) -> str:
    text = str(error["msg"]).removeprefix("Value error, ")
    value = error["input"]
    if error["type"] == "missing" or isinstance(value, dict | BaseModel):
        return text
    return f"{text} (seen {_short(value)})"


def _short(value: Any) -> str:
    shown = json.dumps(value, ensure_ascii=False, default=str)
    return shown if len(shown) <= _LONGEST_VALUE else f"{shown[: _LONGEST_VALUE - 1]}…"


def _skip_line(file: BinaryIO) -> None:
    while (rest := file.readline(1 << 20)) and not rest.endswith(b"\n"):
        pass


def _unreadable(path: Path, error: OSError, hint: str = "") -> NotReadable:
    kind = NotThere if isinstance(unreadable(path, error), MissingFile) else NotReadable
    return kind([Problem(path, 0, "", f"cannot be read: {error.strerror}")], hint)


def _refuse(path: Path, line: int, text: str, hint: str) -> NoReturn:
    raise NotReadable([Problem(path, line, "", text)], hint)
