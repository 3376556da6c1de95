"""The schema of each command's --json document, read from the command's code."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from json_schemas.read import Reader
from json_schemas.shape import ANY, NULL, TEXT, Shape, union
from json_schemas.values import Typed, Value, shape_of

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schemas() -> dict[str, str]:
    """Return the text of each schema by its name, as `fictl.cache.show`."""
    found = {name: _text(f"{name}/1", data_of(module)) for name, module in sorted(commands())}
    # What a command line that names no command is answered with: an error alone.
    return {"fictl": _text("", NULL), **found}


def commands(package: str = "fictl.cli") -> Iterator[tuple[str, Any]]:
    """Yield the commands that take --json."""
    group = import_module(package)
    for name in group.COMMANDS:
        module = import_module(f"{package}.{name.replace('-', '_')}")
        if hasattr(module, "COMMANDS"):
            yield from commands(module.__name__)
        elif "json" in inspect.signature(module.command).parameters:
            path = module.__name__.removeprefix("fictl.cli.").replace("_", "-")
            yield f"fictl.{path}", module


def data_of(module: Any) -> Shape:
    """Return the shape of what a command shows."""
    from fictl.cli.console import Result

    shown: list[Shape] = []

    def show(given: list[Value], place: int = 0) -> None:
        if len(given) > place:
            shown.append(shape_of(given[place]))

    among = Result.among.__func__  # type: ignore[attr-defined]
    reader = Reader({Result: show, among: lambda given: show(given, 1)})
    reader.returned(module.command, [], {})
    return union(shown) if shown else ANY


def _text(name: str, data: Shape) -> str:
    from fictl.errors import CODES, ErrorDocument

    error = shape_of(Typed(ErrorDocument))
    error["properties"]["code"] = {"enum": sorted(CODES)}
    document = {
        "$schema": _DIALECT,
        "$id": name or "fictl/1",
        "type": "object",
        "properties": {
            "schema": {"const": name} if name else TEXT,
            "ok": {"type": "boolean"},
            "data": union([data, NULL]) if data else ANY,
            "error": {"anyOf": [error, NULL]},
        },
        "required": ["schema", "ok", "data", "error"],
        "additionalProperties": False,
    }
    return json.dumps(document, indent=1) + "\n"
