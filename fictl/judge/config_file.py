"""The layers of a configuration: built in < for the op type < for the definition < command line.

A dataset has its own settings in eval_config.toml beside definitions/:

    rtol = 1e-3                      # for all
    [op_type.moe]
    required_matched_ratio = 0.95
    [definition.gemm_n4096_k4096]
    atol = 1e-1

or in eval_config.yaml, as in flashinfer-bench.
"""

from __future__ import annotations

import os
import re
import reprlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fictl.errors import InvalidValue, UsageError, unreadable
from fictl.judge.config import OF_FILES, EvalConfig
from fictl.judge.yaml_table import SUFFIXES, yaml_table
from fictl.toml_text import TomlError, parse_toml
from fictl.user_file import read_text

if TYPE_CHECKING:
    from fictl.trace import Definition

NAMES = ("eval_config.toml", "eval_config.yaml", "eval_config.yml")
# fictl's spelling and flashinfer-bench's.
_OP_TYPE = ("op_type", "op_type_config")
_DEFINITION = ("definition", "definition_config")
# Routing selects experts: a near tie may correctly send a few tokens elsewhere.
_OP_TYPES: Mapping[str, Mapping[str, Any]] = {
    "moe": {"required_matched_ratio": 0.95},
    "lowbit": {"required_matched_ratio": 0.95},
}


# Keys of flashinfer-bench for a run, not for an evaluation; the last one has no effect there.
_SELECTIONS, _ISOLATED, _IGNORED = ("definitions", "solutions"), "use_isolated_runner", "log_dir"


@dataclass(frozen=True)
class ConfigFile:
    """Settings for all definitions, for op types and for single definitions; and a selection to
    run.

    An empty selection means everything.
    """

    path: Path | None = None
    all: Mapping[str, Any] = field(default_factory=dict)
    op_types: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    definitions: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    only_definitions: tuple[str, ...] = ()
    only_solutions: tuple[str, ...] = ()
    is_isolated: bool = False


def layers(
    definition: Definition,
    file: ConfigFile | None = None,
    flags: Mapping[str, Any] | None = None,
) -> EvalConfig:
    """Merge the layers for one definition; `flags` are the values given on the command line."""
    settings = file or ConfigFile()
    config = EvalConfig().changed(_OP_TYPES.get(definition.op_type, {}))
    config = config.changed(settings.all).changed(settings.op_types.get(definition.op_type, {}))
    config = config.changed(settings.definitions.get(definition.name, {}))
    return config.changed({**(flags or {}), "flags": tuple(flags or ())})


def config_file(root: Path, path: Path | None = None) -> ConfigFile:
    """Read `path`, or the dataset's own file if it has one."""
    own = [root / name for name in NAMES if os.path.lexists(root / name)]
    if path is None and len(own) > 1:
        names = " and ".join(candidate.name for candidate in own)
        raise InvalidValue(f"{root} has {names}", "keep one of them, or name one with --config")
    chosen = path or next(iter(own), None)
    return ConfigFile() if chosen is None else parse(chosen, _text(chosen))


def parse(path: Path, text: str) -> ConfigFile:
    """Check the text of a configuration file and split it into its layers."""
    table = _table(path, text)
    op_types = _sections(path, text, table, _OP_TYPE)
    definitions = _sections(path, text, table, _DEFINITION)
    only = {f"only_{name}": _selection(path, text, table, name) for name in _SELECTIONS}
    is_isolated = _flag(path, text, table, _ISOLATED)
    table.pop(_IGNORED, None)
    return ConfigFile(
        path,
        _checked(path, text, table, ""),
        op_types,
        definitions,
        is_isolated=is_isolated,
        **only,
    )


def _selection(path: Path, text: str, table: dict[str, Any], name: str) -> tuple[str, ...]:
    names = table.pop(name, [])
    if not isinstance(names, list) or not all(isinstance(entry, str) and entry for entry in names):
        raise InvalidValue(
            f"{_at(path, text, name)}: {name} = {_short(names)}", "expected a list of names"
        )
    return tuple(names)


def _flag(path: Path, text: str, table: dict[str, Any], name: str) -> bool:
    value = table.pop(name, False)
    if not isinstance(value, bool):
        raise InvalidValue(
            f"{_at(path, text, name)}: {name} = {_short(value)}", "expected true or false"
        )
    return value


def _text(path: Path) -> str:
    try:
        return read_text(path)
    except OSError as error:
        raise unreadable(path, error, "expected a UTF-8 text file") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} cannot be read: {error}", "expected a UTF-8 text file") from None


def _table(path: Path, text: str) -> dict[str, Any]:
    if path.suffix in SUFFIXES:
        return yaml_table(path, text)
    try:
        table: dict[str, Any] = parse_toml(text)
    except TomlError as error:
        raise InvalidValue(f"{path}: not valid TOML: {error}", "https://toml.io") from None
    return table


def _sections(
    path: Path, text: str, table: dict[str, Any], names: tuple[str, ...]
) -> dict[str, dict[str, Any]]:
    """Take the sections out of the table; the keys left apply to all definitions."""
    sections: dict[str, dict[str, Any]] = {}
    for name in (name for name in names if name in table):
        section = table.pop(name)
        for key, values in section.items() if isinstance(section, dict) else ():
            where = f"{name}.{key}"
            if not isinstance(values, dict):
                raise InvalidValue(
                    f"{_at(path, text, key)}: {where} = {_short(values)}", "expected a table"
                )
            sections[key] = {**sections.get(key, {}), **_checked(path, text, values, where)}
        if not isinstance(section, dict):
            raise InvalidValue(
                f"{_at(path, text, name)}: {name} = {_short(section)}", "expected a table"
            )
    return sections


def _checked(path: Path, text: str, values: Mapping[str, Any], where: str) -> dict[str, Any]:
    flat = dict(_flat(values))
    for key, value in flat.items():
        place = f"{_at(path, text, key)}: {where + '.' if where else ''}{key} = {_short(value)}"
        if key not in OF_FILES:
            near = get_close_matches(key, OF_FILES, 1)
            hint = f"is it {near[0]}?" if near else f"known are {', '.join(OF_FILES)}"
            raise InvalidValue(f"{place}: there is no such key", hint)
        try:
            EvalConfig().changed({key: value})
        except UsageError as error:
            raise InvalidValue(place, error.hint) from None
    return flat


def _short(value: object) -> str:
    """Shorten any value for a message: a few words of YAML can expand to very much."""
    return reprlib.repr(value)


def _flat(values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Unpack the table `extra`, in which flashinfer-bench keeps settings of one evaluator."""
    for key, value in values.items():
        if key == "extra" and isinstance(value, dict):
            yield from value.items()
        else:
            yield key, value


def _at(path: Path, text: str, key: str) -> str:
    """File and line of a key, if searching the text finds it; else the file."""
    match = re.search(rf"^[^#\n]*?[\"']?\b{re.escape(key)}\b", text, re.MULTILINE)
    return f"{path}:{text.count(chr(10), 0, match.end()) + 1}" if match else str(path)
