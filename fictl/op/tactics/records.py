"""The file of tuned tactics: measurements on one machine type, and the winners."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fictl.errors import UsageError
from fictl.op.tactics.machine import Machine
from fictl.paths import friendly
from fictl.sealed import BrokenSeal, seal, unseal
from fictl.user_file import read_text

SCHEMA = "fictl.tactics/1"


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True)


class Candidate(_Record):
    """One tactic: seconds per call, compared with the default of the same rounds; or failure."""

    tactic: Any
    median: float = 0.0
    stdrel: float = 0.0
    low: float = 0.0
    high: float = 0.0
    ratio: float = 1.0
    verdict: str = ""
    problem: str = ""


class Entry(_Record):
    """Entry of one key: the tactic that its calls get. The first candidate is the default."""

    winner: Any
    candidates: tuple[Candidate, ...]
    timer: str = ""
    cold: bool = False
    rounds: int = 0
    made_with: dict[str, str] = {}
    made_at: str = ""


class OpRecords(_Record):
    """Records of one op: the digest of the kernel that was measured, and its entries by key."""

    kernel: str
    keys: dict[str, Entry] = {}


class Document(_Record):
    """One file. `driver` is its major version; `ops` are by their full name."""

    schema_: str = Field(alias="schema")
    gpu: str
    driver: str
    ops: dict[str, OpRecords] = {}

    @classmethod
    def empty(cls, here: Machine) -> Document:
        return cls(schema=SCHEMA, gpu=here.gpu, driver=here.driver_major)

    def misfit(self, here: Machine) -> str:
        """Say why it does not fit this machine; '' if it does."""
        if self.schema_ != SCHEMA:
            return f"it is {self.schema_}, this fictl reads {SCHEMA}"
        if self.gpu != here.gpu:
            return f"it was tuned on {self.gpu}, this is {here.gpu}"
        if self.driver != here.driver_major:
            return f"it was tuned with driver {self.driver}, this is {here.driver_major}"
        return ""

    def to_json(self) -> str:
        return seal(self.model_dump(mode="json", by_alias=True, exclude_defaults=True), 1) + "\n"


class Corrupt(UsageError):
    """A file that exists and cannot be read."""


def read(path: Path) -> Document | None:
    """Read a file; None if it does not exist."""
    try:
        text = read_text(path)
        document = Document.model_validate_json(text)
        unseal(text, required=False)  # A file written by hand has no hash.
    except FileNotFoundError:
        return None
    except BrokenSeal as error:
        why = f"{error}; if you edited it, take out its sha256"
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        why = f"{place}: {first['msg']}" if place else first["msg"]
    except (OSError, UnicodeDecodeError) as error:
        why = str(error)
    else:
        return document
    raise Corrupt(
        f"{friendly(path)} is not a file of tuned tactics: {why}", "remove it, and tune again"
    )
