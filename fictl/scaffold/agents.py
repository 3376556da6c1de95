"""Coding agents, and the folders in which each of them looks for skills, as its documentation says."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from fictl.errors import SetupError, UsageError
from fictl.paths import real

# Where agents look that belong to no vendor; most of the others read it too.
USUAL = Path(".agents") / "skills"


@dataclass(frozen=True)
class Agent:
    """An agent. `project`: its folder in a repository; `user`: in the home folder, for all of them."""

    title: str
    project: Path
    user: Path


def _agent(title: str, project: str, user: str) -> Agent:
    return Agent(title, Path(project), Path(user))


AGENTS: Mapping[str, Agent] = {
    "claude": _agent("Claude Code", ".claude/skills", ".claude/skills"),
    "codex": _agent("Codex", ".agents/skills", ".agents/skills"),
    "copilot": _agent("GitHub Copilot", ".github/skills", ".copilot/skills"),
    "cursor": _agent("Cursor", ".cursor/skills", ".cursor/skills"),
    "gemini": _agent("Gemini CLI", ".gemini/skills", ".gemini/skills"),
    "opencode": _agent("OpenCode", ".opencode/skills", ".config/opencode/skills"),
}


def skill_folders(names: Iterable[str], root: Path, of_user: bool) -> tuple[Path, ...]:
    """Return each folder once, in the repository or, for all projects, in the home folder."""
    agents = [AGENTS[name] for name in names]
    if of_user:
        home = _home()
        return tuple(dict.fromkeys(home / agent.user for agent in agents)) or (home / USUAL,)
    folders = tuple(dict.fromkeys(root / agent.project for agent in agents)) or (root / USUAL,)
    for folder in folders:
        _refuse_outside(folder, root)
    return folders


def _refuse_outside(folder: Path, root: Path) -> None:
    """Refuse a link of a repository that leads out of it; its author may be anybody."""
    place = real(folder)
    if real(root) not in place.parents:
        raise UsageError(
            f"{folder.relative_to(root)} leads out of the project, to {place}",
            f"--target {shlex.quote(str(place))} writes there",
        )


def _home() -> Path:
    home = Path(os.path.expanduser("~"))
    if not home.is_absolute():
        raise SetupError("there is no home folder for --user", "set HOME, or name a --target")
    return home
