"""Skills: one job each, told to a coding agent or to an engineer in a hurry; a folder with a SKILL.md."""

from __future__ import annotations

import io
import os
import re
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from fictl.errors import UsageError
from fictl.paths import data_root, files_below, matching
from fictl.project import Project
from fictl.scaffold.agents import skill_folders
from fictl.scaffold.plan.plan import Plan
from fictl.user_file import read_bytes, read_text

FILE = "SKILL.md"

_FRONT = re.compile(r"---\nname: (?P<name>[a-z0-9-]+)\ndescription: (?P<description>.+)\n---\n")
# Why: the same skill is the same archive, byte for byte.
_NO_DATE = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class Skill:
    """A skill: its front matter and its folder."""

    name: str
    description: str
    folder: Path

    def files(self) -> dict[str, str]:
        """Its texts by where they are in its folder."""
        paths = [path for path in files_below(self.folder) if os.path.isfile(path)]
        return {path.relative_to(self.folder).as_posix(): read_text(path) for path in paths}


def skills() -> tuple[Skill, ...]:
    """Those that fictl ships, by name."""
    return tuple(read(path.parent) for path in matching(data_root("skills"), f"*/{FILE}"))


def read(folder: Path) -> Skill:
    path = folder / FILE
    front = _FRONT.match(read_text(path))
    if front is None or front["name"] != folder.name:
        raise UsageError(
            f"{path} does not begin with its name and what it is for",
            f"---, name: {folder.name}, description: one line, ---; each on a line of its own",
        )
    return Skill(front["name"], front["description"], folder)


def select_skills(names: Iterable[str]) -> tuple[Skill, ...]:
    """The ones named, each once; all if none is."""
    known = {skill.name: skill for skill in skills()}
    wanted = [*dict.fromkeys(names)] or [*known]
    for name in wanted:
        if name not in known:
            close = get_close_matches(name, known, n=1)
            meant = f"; did you mean {close[0]!r}?" if close else ""
            raise UsageError(f"there is no skill {name!r}", f"one of {', '.join(known)}{meant}")
    return tuple(known[name] for name in wanted)


def plan_install(
    chosen: Iterable[Skill],
    target: Path | None = None,
    agents: Sequence[str] = (),
    of_user: bool = False,
) -> Plan:
    """Plan a folder of its name for each, in `target` or where these agents look.

    Without an agent that is .agents/skills, which most of them read; in the project here, else in the
    working folder.
    """
    project = Project.at()
    root = Path.cwd() if project.is_shipped else project.root
    folders = (target,) if target else skill_folders(agents, root, of_user)
    files = {
        folder / skill.name / name: text
        for skill in chosen
        for name, text in skill.files().items()
        for folder in folders
    }
    return Plan(root, files)


def write_zip(skill: Skill, path: Path, overwrite: bool = False, dry_run: bool = False) -> bool:
    """Pack a skill; returns True if anything changes. An existing file that differs is refused."""
    packed = pack(skill)
    try:
        there = read_bytes(path) if os.path.exists(path) else None
        if there is not None and there != packed and not overwrite:
            raise UsageError(f"{path} is there already", "--force writes over it")
        if there != packed and not dry_run:
            _replace(path, packed)
    except OSError as error:
        raise UsageError(
            f"cannot write {path}: {error.strerror}", "name a file, as x.zip"
        ) from None
    return there != packed


def pack(skill: Skill) -> bytes:
    """A zip with the skill's folder in it, as agents take uploads."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in skill.files().items():
            entry = zipfile.ZipInfo(f"{skill.name}/{name}", _NO_DATE)
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, text)
    return packed.getvalue()


def _replace(path: Path, content: bytes) -> None:
    """Whole or not at all."""
    temporary = path.with_name(f".{path.name}.{os.urandom(4).hex()}")
    try:
        temporary.write_bytes(content)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
