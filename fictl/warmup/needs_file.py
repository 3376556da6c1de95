"""The file of FICTL_WARMUP_RECORD, read strictly: what it names is compiled."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    ValidationError,
)

from fictl.arch import Arch, parse_archs
from fictl.errors import FictlError, InvalidValue, UsageError, shown, unreadable
from fictl.jit.needed import SCHEMA, SCHEMA_NAME, SCHEMA_NUMBER
from fictl.sealed import BrokenSeal, unseal
from fictl.user_file import read_bytes

_LARGEST = 64 << 20
_MOST = 20_000
_RECORD_AGAIN = "record it again: fictl warmup record"

Name = Annotated[StrictStr, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}$")]
Word = Annotated[StrictStr, Field(max_length=4096, pattern=r"^[^\x00]*$")]
Value = StrictBool | StrictInt | StrictFloat | Annotated[StrictStr, Field(max_length=1 << 20)]
Words = Annotated[tuple[Word, ...], Field(max_length=1000)]


class NeededModule(BaseModel):
    """One module: its op folder, its launcher, the parameters of its template, its targets."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_: Literal["fictl.warmup/1"] = Field(alias="schema")
    fictl: Word
    project: Name
    module: Name
    sources: Annotated[tuple[Name, ...], Field(min_length=1, max_length=100)]
    parameters: dict[Name, Value | None] | None
    cuda_flags: Words
    cxx_flags: Words
    link_flags: Words
    max_spill_bytes: Annotated[StrictInt, Field(ge=0)] | None
    allowed_remarks: Words
    device: Literal["cuda", "emu"]
    archs: Words
    recipe: Annotated[StrictStr, Field(pattern=r"^[0-9a-f]{1,128}$")]

    @property
    def title(self) -> str:
        return f"{self.project}/{self.module}"

    @property
    def targets(self) -> tuple[Arch, ...]:
        return parse_archs(" ".join(self.archs), tuple) if self.archs else ()


@dataclass(frozen=True)
class Needs:
    """The modules of a file, each once. `cut_off` tells that its last line is incomplete."""

    path: Path
    modules: tuple[NeededModule, ...]
    cut_off: bool = False


def read(path: Path | str) -> Needs:
    """Read a file; UsageError names the line that is damaged, changed or of another version."""
    path = Path(path)
    try:
        data = read_bytes(path, _LARGEST)
    except OSError as error:
        raise unreadable(f"the warm-up file {path}", error) from None
    lines = data.split(b"\n")
    cut_off = bool(lines[-1].strip())
    whole = [(number, line) for number, line in enumerate(lines[:-1], 1) if line.strip()]
    if len(whole) > _MOST:
        raise UsageError(f"{path} has {len(whole)} lines, and {_MOST} is the most", _RECORD_AGAIN)
    modules = {_key(one): one for one in (_parsed(path, *numbered) for numbered in whole)}
    if not modules:
        raise UsageError(f"{path} names no module", _RECORD_AGAIN)
    return Needs(path, tuple(modules.values()), cut_off)


def _key(needed: NeededModule) -> str:
    """Everything but the recipe and version: a later line about the same module replaces it."""
    return json.dumps(needed.model_dump(exclude={"recipe", "fictl"}), sort_keys=True)


def _parsed(path: Path, number: int, line: bytes) -> NeededModule:
    where = f"{path}:{number}"
    try:
        record = unseal(line)
    except BrokenSeal as error:
        raise UsageError(f"{where}: {error}: it was changed or damaged", _RECORD_AGAIN) from None
    except (ValueError, RecursionError) as error:
        text = shown(str(error))
        raise UsageError(
            f"{where} is not a line of a warm-up file: {text}", _RECORD_AGAIN
        ) from None
    _require_version(where, record)
    try:
        needed = NeededModule.model_validate(record)
        needed.targets  # noqa: B018  (an architecture that does not exist raises)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(map(str, first["loc"]))
        raise UsageError(f"{where}: {shown(field)}: {first['msg']}", _RECORD_AGAIN) from None
    except InvalidValue as error:
        raise UsageError(f"{where}: {error.message}", _RECORD_AGAIN) from None
    return needed


def _require_version(where: str, record: dict[str, Any]) -> None:
    schema = record.get("schema")
    match = re.fullmatch(rf"{re.escape(SCHEMA_NAME)}/(\d{{1,9}})", str(schema))
    if match and int(match[1]) > SCHEMA_NUMBER:
        raise UsageError(
            f"{where}: a newer fictl wrote it: its schema is {match[0]}, this one's {SCHEMA}",
            "use the fictl that wrote it, or record it again",
        )
    if schema != SCHEMA:
        raise UsageError(f"{where}: {shown(repr(schema))} is not {SCHEMA}", _RECORD_AGAIN)


def require_readable(path: Path) -> FictlError | None:
    """Return why the file cannot be read, or None: for a count beside other output."""
    if not os.path.exists(path):
        return UsageError(f"{path} was not written: no module was loaded")
    try:
        read(path)
    except FictlError as error:
        return error
    return None
