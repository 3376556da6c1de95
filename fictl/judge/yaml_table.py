"""Configuration files in YAML, as in flashinfer-bench, converted to the form of TOML."""

from __future__ import annotations

import re
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml

from fictl.errors import UsageError

SUFFIXES = (".yaml", ".yml")
# YAML reads 1e-2 as a string, but its author meant a number, and flashinfer-bench reads it as one.
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE | re.ASCII)
_DEEPEST = 8


def yaml_table(path: Path, text: str) -> dict[str, Any]:
    """Parse the text; keys whose value is null are left out."""
    try:
        document = yaml.load(text, _Loader)  # noqa: S506 - of a SafeLoader
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{path}:{mark.line + 1}" if mark else str(path)
        problem = getattr(error, "problem", None) or str(error).partition("\n")[0]
        raise UsageError(f"{place}: not valid YAML: {problem}", "https://yaml.org") from None
    except (ValueError, RecursionError, OverflowError) as error:
        raise UsageError(f"{path}: not valid YAML: {error}"[:300], "https://yaml.org") from None
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise UsageError(
            f"{path}: expected a mapping, not a {type(document).__name__}", "as in rtol: 0.01"
        )
    return {str(key): _read(path, value) for key, value in document.items() if value is not None}


def _read(path: Path, value: Any, depth: int = 0) -> Any:
    if depth > _DEEPEST:
        raise UsageError(f"{path}: nested too deeply", "op_type_config, a type, its keys")
    if isinstance(value, dict):
        entries = {str(key): entry for key, entry in value.items() if entry is not None}
        return {key: _read(path, entry, depth + 1) for key, entry in entries.items()}
    return float(value) if isinstance(value, str) and _NUMBER.fullmatch(value) else value


class _Loader(yaml.SafeLoader):  # type: ignore[misc]
    """Refuses a repeated key, as the readers of TOML and JSON do."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen = set[str]()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"{key.value} stands twice", key.start_mark
                )
            seen.add(str(key.value) if isinstance(key, yaml.ScalarNode) else "")
        mapping: dict[Hashable, Any] = super().construct_mapping(node, deep)
        return mapping
