"""Record: a dump's metadata of its call. One JSON line per state; the last complete line counts."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, ValidationError

from fictl.errors import MissingFile, UsageError
from fictl.user_file import read_bytes

FORMAT: Literal["fictl.dump/1"] = "fictl.dump/1"
METADATA = "metadata.jsonl"

# Arguments other than tensors are small.
_LONGEST = 16 << 20


class Refused(UsageError):
    """A dump that is damaged, or was not written by this program."""


class NoDump(Refused, MissingFile):
    """No record exists at that path."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Layout(_Part):
    """Shape, stride, dtype and device of a tensor."""

    shape: tuple[NonNegativeInt, ...]
    stride: tuple[NonNegativeInt, ...]
    dtype: str
    device: str


class TensorFile(_Part):
    """A file of tensors beside the metadata: its name, its size in bytes, and its tensors."""

    file: str
    size: NonNegativeInt
    tensors: dict[str, Layout]


class Failure(_Part):
    """The exception that ended a call."""

    type: str
    message: str


class Record(_Part):
    """`arguments`, `result` and `written` are values as fictl.op.watch.dump.values encodes them."""

    format: Literal["fictl.dump/1"] = FORMAT
    op: str
    module: str
    status: Literal["inputs_saved", "completed", "failed"] = "inputs_saved"
    sequence: NonNegativeInt
    pid: int
    rank: str
    time: str
    gpu: str
    stream: str
    versions: dict[str, str]
    signature: str
    settings: dict[str, Annotated[str, Field(pattern=r"^[^\x00]*$")]]
    arguments: dict[str, Any]
    inputs: TensorFile
    result: Any = None
    written: dict[str, Any] = {}
    outputs: TensorFile | None = None
    error: Failure | None = None
    seconds: float | None = None
    note: str = ""

    def append_to(self, folder: Path) -> None:
        """Append a line; it is on the disk when this returns."""
        line = json.dumps(self.model_dump(exclude_none=True)) + "\n"
        with (folder / METADATA).open("a", encoding="utf-8") as file:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())

    @classmethod
    def read(cls, folder: Path) -> Record:
        path = folder / METADATA
        line = _last_line(path)
        try:
            data = json.loads(line)
            format_name = data.get("format") if isinstance(data, dict) else None
            record = cls.model_validate_json(line) if format_name == FORMAT else None
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(map(str, first["loc"]))
            raise Refused(f"{path} is damaged: {where}: {first['msg']}") from None
        except (ValueError, RecursionError) as error:
            raise Refused(f"{path} is damaged: {error}") from None
        if record is None:
            raise Refused(
                f"{path} is of format {format_name!r:.80}; this fictl reads {FORMAT!r}",
                "replay it with the fictl that wrote it",
            )
        return record


def _last_line(path: Path) -> bytes:
    """Return the last complete line; a truncated one is skipped."""
    try:
        size = path.stat().st_size
        if size > _LONGEST:
            raise Refused(f"{path} has {size} bytes, and metadata has at most {_LONGEST}")
        text = read_bytes(path)
    except OSError as error:
        kind = NoDump if isinstance(error, FileNotFoundError) else Refused
        raise kind(f"{path} cannot be read: {error.strerror}") from None
    whole = text[: text.rfind(b"\n") + 1].splitlines()
    if not whole:
        raise Refused(f"{path} has no whole line", "the process ended while it wrote the dump")
    return whole[-1]
