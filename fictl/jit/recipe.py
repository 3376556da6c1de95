"""The recipe of a module: one digest of all inputs that decide what its code means."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fictl.errors import UsageError
from fictl.jit import reproducible
from fictl.jit.flags import Flags, semantic_flags
from fictl.jit.kernel_language import language_of
from fictl.jit.module_spec import ModuleSpec
from fictl.jit.sources import Reached, Stamp, facts, reach

SCHEMA = "fictl.recipe/1"


def digest(content: Any) -> str:
    """Return a short stable hash of plain data."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), default=_plain)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def _plain(value: object) -> object:
    """Convert a non-JSON value to a form that is the same in every process."""
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=str)
    text = str(value)
    if " at 0x" in text:
        raise UsageError(
            f"{text} cannot be part of a module's key", "pass a number, a string or a dtype"
        )
    return text


@dataclass(frozen=True)
class Recipe:
    """The digest with its parts: file hashes, flags, variant and device.

    Not in the digest: `stamps`, to see if a file was touched since, and `paths` of files.
    """

    key: str
    inputs: dict[str, str]
    flags: Flags
    device: str
    parameters: dict[str, Any]
    libraries: frozenset[str]
    stamps: dict[str, Stamp]
    paths: dict[str, Path]


def recipe_of(spec: ModuleSpec) -> Recipe:
    """Make the recipe of the current sources; templates count unrendered, with parameters."""
    reached = reached_by(spec, *spec.sources, *spec.made_from)
    known = {name: facts(path) for name, path in reached.files.items()}
    inputs = {name: file.sha256 for name, file in known.items()}
    stamps = {name: file.stamp for name, file in known.items()}
    flags = semantic_flags(spec)
    device = spec.runs_on
    parameters = dict(spec.template.parameters) if spec.template else {}
    units = [path.name for path in spec.sources]
    parts = [spec.project, spec.name, units, inputs, asdict(flags), device, parameters]
    parts.append(reproducible.rules(device, flags.variant, reached.files.values()))
    libraries = reached.libraries
    if spec.triton:
        language = language_of(spec.triton)
        parts.append(language.own_digest())
        libraries |= {language.library}
    key = digest([SCHEMA, *parts])
    return Recipe(key, inputs, flags, device, parameters, libraries, stamps, reached.files)


def unit_inputs(spec: ModuleSpec, source: Path) -> dict[str, str]:
    """Return the hashes of the files that one translation unit depends on."""
    return {name: facts(path).sha256 for name, path in unit_files(spec, source).items()}


def unit_files(spec: ModuleSpec, source: Path) -> dict[str, Path]:
    """Return the files that one translation unit depends on, by name."""
    return reached_by(spec, source).files


def includes_rendered(spec: ModuleSpec, source: Path) -> bool:
    """True if a unit includes, directly or indirectly, the file rendered from the template."""
    if spec.template is None:
        return False
    name = Path(spec.template.output).name
    reached = reached_by(spec, source).files.values()
    return any(
        Path(include[1:-1]).name == name for path in reached for include in facts(path).includes
    )


def reached_by(spec: ModuleSpec, *sources: Path) -> Reached:
    """Follow all includes of these sources, direct and indirect."""
    include_dirs = tuple(path.absolute() for path in spec.include_dirs)
    return reach((path.absolute() for path in sources), spec.base.absolute(), include_dirs)
