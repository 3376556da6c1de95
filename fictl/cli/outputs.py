"""Options that name what a command writes: a place that cannot be written is refused before it runs."""

from __future__ import annotations

import os
from pathlib import Path

import typer

from fictl.user_file import require_folder, require_writable


def writes_file(param: typer.CallbackParam, value: Path | None) -> Path | None:
    """The callback of an option that names a file, in a folder that is there."""
    if value is not None:
        require_writable(_said(param), value)
    return value


def writes_file_and_folders(param: typer.CallbackParam, value: Path | None) -> Path | None:
    """The callback of an option that names a file; folders on the way to it are made."""
    if value is not None:
        require_writable(_said(param), value, makes_folders=True)
    return value


def writes_files_and_folders(
    param: typer.CallbackParam, value: list[Path] | None
) -> list[Path] | None:
    """The callback of an option that names several files; folders on the way to them are made."""
    for path in value or ():
        require_writable(_said(param), path, makes_folders=True)
    return value


def writes_folder(param: typer.CallbackParam, value: Path | None) -> Path | None:
    """The callback of an option that names a folder to fill."""
    if value is not None:
        require_folder(_said(param), value)
    return value


def writes_file_or_into_folder(param: typer.CallbackParam, value: Path | None) -> Path | None:
    """The callback of an option that names a file, or a folder that gets one of a known name."""
    if value is None or os.path.isdir(value):
        return value
    return writes_file(param, value)


def _said(param: typer.CallbackParam) -> str:
    """`--out`, or DIR of an argument."""
    if param.param_type_name == "option":
        return next(name for name in param.opts if name.startswith("--"))
    return str(param.metavar or param.name)
