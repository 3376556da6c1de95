"""SourceFile: a file of a solution, with its text."""

from __future__ import annotations

from pydantic import field_validator

from fictl.trace.documents.part import InsidePath, NonEmpty, Part

# Larger files are data, not source code.
_LARGEST = 1 << 20


class SourceFile(Part):
    """`path` is relative to the folder of the build, and cannot lead out of it."""

    path: InsidePath
    content: NonEmpty

    @field_validator("content", mode="before")
    @classmethod
    def _is_text(cls, value: object) -> object:
        if isinstance(value, str):
            if len(value) > _LARGEST or len(value.encode("utf-8", "replace")) > _LARGEST:
                raise ValueError(f"a source of more than {_LARGEST >> 20} MiB")
            if "\0" in value:
                raise ValueError("a NUL character: the file is not text")
        return value

    @field_validator("path")
    @classmethod
    def _names_a_file(cls, value: str) -> str:
        if value.startswith("./"):
            raise ValueError("write it without ./, so that each file has one name")
        return value
