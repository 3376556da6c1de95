"""The record of a scaffold in an op's folder: what `fictl upgrade` needs to write the op again."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from fictl import rooted
from fictl.errors import UsageError
from fictl.project import OpFolder
from fictl.scaffold.new.reference import ReadReference, Reference
from fictl.scaffold.new.request import NewOpRequest
from fictl.sealed import seal, unseal

FILE = ".scaffold.json"
LARGEST = 4 << 20
MOST_LINES = 10_000
_SCHEMA = 1
_NAME = re.compile(r"\w[\w.+-]*")
_SOURCES = {
    "kernel": re.compile(r"[\w-][\w.+-]*\.cuh?"),
    "definition": re.compile(r"[\w-][\w.+-]*"),
}
_READ_TEXTS = ("expression", "why_not", "kind", "doc")
_READ_LISTS = ("inputs", "scalars", "outputs")


class _Unfit(ValueError):
    """A part of a record that no scaffold would have written."""


@dataclass(frozen=True)
class ScaffoldRecord:
    """`files` are the texts as the templates gave them, by their path in the tree of a template.

    `read` is the reference of --from as it was read. `source` is the text of the file that --kernel
    or --from-definition named; the request has its name without the folder.
    """

    version: str
    request: NewOpRequest
    files: Mapping[str, str]
    read: ReadReference | None = None
    source: str = ""

    def text(self) -> str:
        """Encode with a hash; texts are lists of lines, which differ line by line in git, too."""
        data = {
            "schema": _SCHEMA,
            "version": self.version,
            "request": asdict(self.request),
            "read": _described(self.read) if self.read else None,
            "source": self.source.split("\n"),
            "files": {where: text.split("\n") for where, text in self.files.items()},
        }
        return seal(data, indent=1) + "\n"


def place(folder: OpFolder) -> Path:
    return folder.path / FILE


def read_record(folder: OpFolder) -> ScaffoldRecord | None:
    """Read the record of an op, None if it has none; one that no scaffold wrote is an error."""
    path = place(folder)
    try:
        with rooted.opened(folder.project.top, path) as file:
            data = file.read(LARGEST + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _refused(path, f"cannot be read, links not followed: {error.strerror}") from None
    if len(data) > LARGEST:
        raise _refused(path, f"has more than {LARGEST} bytes")
    try:
        record = _decoded(unseal(data))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise _refused(path, f"is not as the scaffold wrote it: {_reason(error)}") from None
    of = f"{record.request.family}/{record.request.name}"
    if of != f"{folder.family}/{folder.module}":
        raise UsageError(
            f"{path} is the record of {of}, and lies with {folder.family}/{folder.module}",
            "fictl rename-op takes a record along; delete that of a copy made by hand",
        )
    return record


def is_sound(record: ScaffoldRecord) -> bool:
    """Tell if it could be read again: a name of a file of the user's may be too unusual."""
    try:
        return _decoded(unseal(record.text())) == record
    except (ValueError, UnicodeError):
        return False


def _refused(path: Path, reason: str) -> UsageError:
    return UsageError(
        f"{path} {reason}",
        "restore it, as with git checkout; or fictl new-op --force with the words of then writes "
        "the op and its record anew, and git diff shows what was yours",
    )


def _reason(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"it lacks {error}"
    return str(error).partition("\n")[0][:200] or type(error).__name__


def _decoded(data: Mapping[str, Any]) -> ScaffoldRecord:
    if data["schema"] != _SCHEMA:
        raise _Unfit(f"it has the format {data['schema']!r}; a newer fictl reads it")
    request = _request(data["request"])
    files = {_where(name): _joined(lines) for name, lines in data["files"].items()}
    read = _read(data["read"]) if data["read"] is not None else None
    if bool(request.reference) != bool(read):
        raise _Unfit("it has not both the name of a reference and what was read of it")
    return ScaffoldRecord(_string(data["version"]), request, files, read, _joined(data["source"]))


def _request(data: Mapping[str, Any]) -> NewOpRequest:
    known = {field.name: field.default for field in fields(NewOpRequest)}
    strange = sorted({*data} - {*known})
    if strange:
        raise _Unfit(f"its request has {strange[0]!r}, which a newer fictl knows")
    values: dict[str, Any] = {
        name: tuple(map(_string, _list(value))) if known[name] == () else _string(value)
        for name, value in data.items()
    }
    request = NewOpRequest(**values)
    for name, pattern in _SOURCES.items():
        source = getattr(request, name).partition(":")[0]
        if source and not pattern.fullmatch(source):
            raise _Unfit(f"it names {source!r} as the file of its {name}")
    return request


def _described(read: ReadReference) -> dict[str, Any]:
    """Encode what the op is written again from, without the guesses that were shown then."""
    names = (*_READ_TEXTS, *_READ_LISTS)
    return {"reference": asdict(read.reference), **{name: getattr(read, name) for name in names}}


def _read(data: Mapping[str, Any]) -> ReadReference:
    texts = {name: _string(data[name]) for name in _READ_TEXTS if data[name] is not None}
    lists = {name: tuple(map(_string, _list(data[name]))) for name in _READ_LISTS}
    values: dict[str, Any] = {"expression": None, **texts, **lists}
    reference = data["reference"]
    imports = tuple(map(_string, _list(reference["imports"])))
    return ReadReference(Reference(_string(reference["source"]), imports), **values)


def _where(name: str) -> str:
    """A path in the tree of a template: relative, and nowhere upwards."""
    if not all(map(_NAME.fullmatch, name.split("/"))):
        raise _Unfit(f"it names {name!r} as a file of the op")
    return name


def _joined(lines: Any) -> str:
    texts = [_string(line) for line in _list(lines)]
    if len(texts) > MOST_LINES:
        raise _Unfit(f"a text of it has more than {MOST_LINES} lines")
    return "\n".join(texts)


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise _Unfit(f"it has {type(value).__name__} in place of a list")
    return value


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise _Unfit(f"it has {type(value).__name__} in place of a text")
    return value
