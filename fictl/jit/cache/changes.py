"""Differences between an existing build and the build that would be made now."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fictl.arch import Arch
from fictl.jit.ffi import ffi_abi
from fictl.jit.recipe import Recipe
from fictl.jit.store import past_sources
from fictl.jit.store.entry import Manifest
from fictl.redact import hidden
from fictl.user_file import read_text


@dataclass(frozen=True)
class Change:
    """One changed input: its kind, its name, how it changed. `lines` count in the current file."""

    kind: str
    name: str
    how: str
    lines: tuple[tuple[int, int], ...] = ()
    diff: str = ""


@dataclass(frozen=True)
class Wanted:
    """All inputs of a build; an empty part is unknown and not compared."""

    recipe: Recipe
    identity: Mapping[str, str]
    archs: tuple[Arch, ...]
    cudart: int


def changes(then: Manifest, now: Wanted, root: Path | None) -> list[Change]:
    """Return every difference between the build `then` and a build of `now`.

    Changed lines come from the source texts kept below `root`; None leaves them out.
    """
    return [
        *_files(then, now.recipe, root),
        *_parameters(then.parameters, now.recipe.parameters),
        *_flags(then, now.recipe),
        *_words("device", then.device, now.recipe.device),
        *_words("variant", then.variant, now.recipe.flags.variant),
        *_toolchain(then, now),
        *_archs(then.archs, now.archs),
    ]


def _files(then: Manifest, recipe: Recipe, root: Path | None) -> Iterator[Change]:
    old, new = then.inputs, recipe.inputs
    for name in sorted(old.keys() | new.keys()):
        kind = "header" if name.startswith("<") or name.endswith((".h", ".cuh")) else "source"
        path = recipe.paths.get(name)
        if path is None:
            yield Change(kind, name, "is not part of it any more")
        elif name not in old:
            yield Change(kind, str(path), "is new")
        elif old[name] != new[name]:
            yield _edit(kind, path, past_sources.recall(root, old[name]) if root else None)


def _edit(kind: str, path: Path, before: str | None) -> Change:
    if before is None:
        return Change(kind, str(path), "changed")
    old, new = before.splitlines(), read_text(path, errors="replace").splitlines()
    lines = _changed_lines(old, new)
    diff = "\n".join(difflib.unified_diff(old, new, "as it was built", "as it is", lineterm=""))
    return Change(kind, str(path), f"changed ({spell_lines(lines)})", lines, diff)


def _changed_lines(old: list[str], new: list[str]) -> tuple[tuple[int, int], ...]:
    """Return first and last line of each change, from 1; for a deletion, the line before it."""
    blocks = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return tuple(
        (start + 1, end) if end > start else (max(start, 1), max(start, 1))
        for tag, _, _, start, end in blocks
        if tag != "equal"
    )


def spell_lines(lines: tuple[tuple[int, int], ...]) -> str:
    """Format as `line 3, 41-44`."""
    spans = (str(first) if first == last else f"{first}-{last}" for first, last in lines)
    return f"line {', '.join(spans)}" if lines else "line ends only"


def same_parameters(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    return not any(_parameters(old, new))


def _parameters(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    for name in sorted(old.keys() | new.keys()):
        before, after = old.get(name), new.get(name)
        # Why compare text: the manifest has been through JSON.
        if str(before) != str(after):
            yield Change("parameter", name, f"is {after!r}, was {before!r}")


def _flags(then: Manifest, recipe: Recipe) -> Iterator[Change]:
    new = asdict(recipe.flags)
    for tool, old in then.flags.items():
        words = new.get(tool, ())  # Another version of fictl may have recorded other tools.
        if list(old) == list(words):
            continue
        before, after = hidden("", list(old)), hidden("", list(words))
        added = [word for word in after if word not in before]
        removed = [word for word in before if word not in after]
        how = [f"now with {' '.join(added)}"] * bool(added)
        how += [f"without {' '.join(removed)}"] * bool(removed)
        yield Change("flags", tool, ", ".join(how) or "in another order, or with another secret")


def _words(kind: str, old: str, new: str) -> Iterator[Change]:
    if old != new:
        yield Change(kind, kind, f"is {new}, was {old}")


def _toolchain(then: Manifest, now: Wanted) -> Iterator[Change]:
    if now.identity:
        for tool in sorted(then.toolchain.keys() | now.identity.keys()):
            before, after = then.toolchain.get(tool, "absent"), now.identity.get(tool, "absent")
            if before != after:
                yield Change("compiler", tool, f"is {after}, was {before}")
        if then.cudart != now.cudart:
            yield Change("compiler", "cudart", f"is CUDA {now.cudart}, was CUDA {then.cudart}")
    if then.ffi_abi != ffi_abi():
        yield Change("tvm-ffi", "ABI", f"is {ffi_abi()}, was {then.ffi_abi}")


def _archs(old: tuple[str, ...], new: tuple[Arch, ...]) -> Iterator[Change]:
    missing = [str(arch) for arch in new if str(arch) not in old]
    if missing:
        yield Change(
            "architectures", " ".join(missing), f"wanted, it was built for {' '.join(old)}"
        )
