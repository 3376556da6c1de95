"""The build of an existing repository: what fictl adds to it, and advice about the rest."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fictl.errors import UsageError
from fictl.paths import matching
from fictl.project.config import SHARED_FILE, Config
from fictl.project.project import ENTRY_POINTS
from fictl.toml_text import TomlError, parse_toml
from fictl.user_file import read_bytes, read_text

_EXISTING = (SHARED_FILE, "setup.py", "setup.cfg")


def build_file(root: Path) -> Path | None:
    """File that says how the folder is packaged."""
    return next((root / name for name in _EXISTING if os.path.exists(root / name)), None)


def with_table(path: Path, settings: str) -> str:
    """The text of a pyproject.toml with `[tool.fictl]` at its end, all else byte for byte."""
    text = read_bytes(path).decode("utf-8")
    before = _parsed(path, text)
    end = "\r\n" if "\r\n" in text else "\n"
    lines = ["[tool.fictl]", *(line for line in settings.splitlines() if not line.startswith("#"))]
    gap = "" if not text else end if text.endswith("\n") else end * 2
    longer = text + gap + "".join(line + end for line in lines)
    try:
        after = parse_toml(longer)
    except TomlError:
        after = {}
    after.get("tool", {}).pop("fictl", None)
    if {"tool": {}, **after} != {"tool": {}, **before}:
        raise UsageError(f"{path} has no place for a table [tool.fictl]", "write it in by hand")
    return longer


def is_packaged(root: Path, config: Config) -> bool:
    """Tell if the folder's build contains the project, or will, because there is none yet."""
    path = build_file(root)
    if path is None:
        return (config.kernels, config.package) == (Config.kernels, config.name)
    return ENTRY_POINTS in read_text(path, errors="replace")


def advice(root: Path, config: Config) -> tuple[str, ...]:
    """Advice about what fictl does not touch, because it is the owner's way of packaging."""
    return () if is_packaged(root, config) else tuple(_advice(root, config))


def _advice(root: Path, config: Config) -> Iterator[str]:
    name, package, kernels = config.name, config.package, config.kernels
    yield (
        f"to `import {package}` from an installation: a package {package}/__init__.py with\n"
        f"  from fictl.project import mounted\n"
        f"  __path__, ops = mounted(__name__, __path__)\n"
        f"the entry point {name} = {package!r} in the group {ENTRY_POINTS!r}, and in the wheel "
        f"{kernels}/ as\n{package}/kernels, with a fictl.toml beside it"
    )
    if _discovers(root):
        yield (
            f"setuptools looks for packages here by itself, and would take {kernels}/ for one: name "
            f"yours\n  [tool.setuptools.packages.find]\n  include = {_packages(root)}"
        )


def _discovers(root: Path) -> bool:
    """Tell if setuptools searches the top folder because no packages are configured."""
    path = root / SHARED_FILE
    table = _parsed(path, read_text(path)) if os.path.exists(path) else {}
    requires = table.get("build-system", {}).get("requires", ["setuptools"])
    options = {"packages", "py-modules"} & {*table.get("tool", {}).get("setuptools", {})}
    elsewhere = any(os.path.exists(root / name) for name in ("src", "setup.py", "setup.cfg"))
    uses = any(require.startswith("setuptools") for require in requires)
    return "project" in table and uses and not options and not elsewhere


def _packages(root: Path) -> str:
    names = sorted(path.parent.name for path in matching(root, "*/__init__.py"))
    return "[" + ", ".join(f'"{name}*"' for name in names or ["your_package"]) + "]"


def _parsed(path: Path, text: str) -> dict[str, Any]:
    try:
        table: dict[str, Any] = parse_toml(text)
    except TomlError as error:
        raise UsageError(f"{path}: not valid TOML: {error}", "https://toml.io") from None
    return table
