"""Orders: a module that another process is to build, with all that decides its bytes, as JSON.

Paths of the own folder of the process are relative to the folder that they have in common, so that
equal sources are equal orders wherever they lie; other paths are files of this machine.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from fictl import settings
from fictl.arch import Arch, ArchRule
from fictl.jit.module_spec import ModuleSpec, Template
from fictl.jit.plan import Plan
from fictl.paths import files_below
from fictl.user_file import read_bytes

Order = Mapping[str, Any]

_FLAGS = ("extra_cuda_cflags", "extra_cflags", "extra_ldflags", "allowed_remarks", "devices")
_OWN = "./"
# Every ordered module is built under this name: what people call it is no part of an order.
NAME = "ordered"


def order_of(plan: Plan) -> Order | None:
    """Write down a plan; None if only this process can build it."""
    spec, files = plan.spec, [*plan.recipe.paths.values()]
    own = Path(settings.WORKSPACE_BASE.get() or "/").absolute()
    common = _common(spec, files, own)
    described = {**_described(spec, common), **facts(plan)}
    # A flag may name the folder in which the sources lie: then the order is of this process alone.
    if not _is_plain(spec) or str(own) in json.dumps(described):
        return None
    texts = {_spelled(path, common): _text(path) for path in _offered(files, Path(common))}
    return {**described, "files": texts}


def key_of(order: Order) -> str:
    """Return the hash of all of an order: equal ones are built once."""
    return hashlib.sha256(json.dumps(order, sort_keys=True).encode()).hexdigest()


def fill(order: Order, folder: Path) -> ModuleSpec:
    """Return the spec of an order whose files lie in `folder`."""

    def path(text: Any) -> Path:
        name = str(text)
        return folder / name.removeprefix(_OWN) if name.startswith(_OWN) else Path(name)

    template = order["template"]
    return ModuleSpec(
        name=NAME,
        project=NAME,
        base=path(order["base"]),
        sources=tuple(map(path, order["sources"])),
        include_dirs=tuple(map(path, order["include_dirs"])),
        template=Template(**{**template, "path": path(template["path"])}) if template else None,
        triton=path(order["triton"]) if order["triton"] else None,
        archs=ArchRule.parse(str(order["archs"])),
        exact_archs=tuple(map(Arch.parse, order["exact_archs"])),
        fallback_archs=str(order["fallback_archs"]),
        device=str(order["device"]),
        max_spill_bytes=order["max_spill_bytes"],
        **{name: tuple(map(str, order[name])) for name in _FLAGS},
    )


def files_of(order: Order) -> dict[str, str]:
    """Return the sources by their paths in the order's folder."""
    return {str(name).removeprefix(_OWN): str(text) for name, text in order["files"].items()}


def facts(plan: Plan) -> dict[str, Any]:
    """Return what the plan was made of, besides the spec, as JSON gives it back."""
    facts = {
        "targets": [str(arch) for arch in plan.targets.archs],
        "identity": plan.identity,
        "flags": asdict(plan.recipe.flags),
        "inputs": plan.recipe.inputs,
    }
    plain: dict[str, Any] = json.loads(json.dumps(facts))
    return plain


def _is_plain(spec: ModuleSpec) -> bool:
    """Tell whether JSON holds the parameters: a tuple would come back as a list."""
    parameters = dict(spec.template.parameters) if spec.template else {}
    try:
        return bool(json.loads(json.dumps(parameters)) == parameters)
    except (TypeError, ValueError):
        return False


def _described(spec: ModuleSpec, common: str) -> dict[str, Any]:
    def spelled(paths: Iterable[Path]) -> list[str]:
        return [_spelled(path.absolute(), common) for path in paths]

    template = spec.template
    return {
        "base": _spelled(spec.base.absolute(), common),
        "sources": spelled(spec.sources),
        "include_dirs": spelled(spec.include_dirs),
        "template": template
        and {
            "path": _spelled(template.path.absolute(), common),
            "output": template.output,
            "parameters": dict(template.parameters),
        },
        "triton": spec.triton and _spelled(spec.triton.absolute(), common),
        "archs": spec.archs.text,
        "exact_archs": [str(arch) for arch in spec.exact_archs],
        "fallback_archs": spec.fallback_archs,
        "device": spec.runs_on,
        "max_spill_bytes": spec.max_spill_bytes,
        **{name: [*getattr(spec, name)] for name in _FLAGS},
    }


def _common(spec: ModuleSpec, files: Iterable[Path], own: Path) -> str:
    """Return the deepest folder with all of the spec's own files."""
    named = (spec.base, *spec.include_dirs, *(path.parent for path in (*spec.sources, *files)))
    folders = [path.absolute() for path in named]
    inside = [path for path in folders if path.is_relative_to(own)]
    return os.path.commonpath(inside) if inside else str(own / "none")


def _offered(files: Iterable[Path], common: Path) -> list[Path]:
    """Return all files that an include could name, also one that no scanner sees; and `files`."""
    beside = files_below(common) if os.path.isdir(common) else ()
    headers = (path for path in beside if path.suffix != ".py")
    return sorted({*headers, *(path for path in files if path.is_relative_to(common))})


def _spelled(path: Path, common: str) -> str:
    return f"{_OWN}{path.relative_to(common)}" if path.is_relative_to(common) else str(path)


def _text(path: Path) -> str:
    return read_bytes(path).decode("utf-8", "surrogateescape")
