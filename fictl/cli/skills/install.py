"""fictl skills install: skills as files of the project, or one as a zip."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from fictl.cli import console
from fictl.cli.options import DryRun, Json
from fictl.cli.outputs import writes_file, writes_folder
from fictl.cli.scaffolded import Diff, Force, carry_out
from fictl.errors import UsageError
from fictl.scaffold.agents import AGENTS


def _agent(name: str) -> Any:
    """Return the option of an agent: a flag with its name."""
    agent = AGENTS[name]
    return typer.Option(
        f"--{name}",
        help=f"For {agent.title}: {agent.project}.",
        rich_help_panel="Agents",
        show_default=False,
    )


EXAMPLES = {
    "fictl skills install": "all, into .agents/skills of the project, which most agents read",
    "fictl skills install --claude --cursor": "where these two look",
    "fictl skills install --gemini --user --dry-run": "for every project of yours; what would be written",
    "fictl skills install add-cuda-kernel --target ~/.agents/skills": "one, for every project",
}


class Targets(NamedTuple):
    """Folders to write into: one, or those of agents in the project or, with `user`, in the home folder."""

    target: Path | None
    agents: Sequence[str]
    user: bool


def command(
    context: typer.Context,
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="SKILL", help="A skill; default: all.", show_default=False),
    ] = None,
    target: Annotated[
        Path | None,
        typer.Option(
            "--target",
            metavar="DIR",
            help="Output folder; default: .agents/skills of the project.",
            callback=writes_folder,
            show_default=False,
        ),
    ] = None,
    claude: Annotated[bool, _agent("claude")] = False,
    codex: Annotated[bool, _agent("codex")] = False,
    copilot: Annotated[bool, _agent("copilot")] = False,
    cursor: Annotated[bool, _agent("cursor")] = False,
    gemini: Annotated[bool, _agent("gemini")] = False,
    opencode: Annotated[bool, _agent("opencode")] = False,
    user: Annotated[
        bool,
        typer.Option(
            "--user",
            help="In the agents' folders in your home, for every project.",
            rich_help_panel="Agents",
            show_default=False,
        ),
    ] = False,
    zip: Annotated[
        Path | None,
        typer.Option(
            "--zip",
            metavar="FILE",
            help="Pack one skill into this file.",
            callback=writes_file,
            show_default=False,
        ),
    ] = None,
    force: Force = False,
    dry_run: DryRun = False,
    diff: Diff = False,
    json: Json = False,
) -> None:
    """Write skills where coding agents look for them. Existing files are kept.

    Without a flag of an agent they go into .agents/skills, which most agents read.
    """
    agents = [name for name in AGENTS if context.params[name]]
    if zip is not None and (target or diff or agents or user):
        raise UsageError("--zip writes one file", "leave --target, --diff, --user and agents out")
    if target and (agents or user):
        raise UsageError("--target is a folder of its own", "leave --user and the agents out")
    if zip is None:
        _install(names or [], Targets(target, agents, user), force, dry_run, diff)
    else:
        _pack(names or [], zip, force, dry_run)


def _install(names: list[str], to: Targets, force: bool, dry_run: bool, diff: bool) -> None:
    from fictl.scaffold.skills import plan_install, select_skills

    target = to.target and to.target.absolute()
    plan = plan_install(select_skills(names), target, to.agents, to.user)
    data = carry_out(plan, "fictl skills install", dry_run=dry_run, diff=diff, force=force or diff)
    paths = [file["path"] for file in data["files"]]
    view = data["diff"].rstrip("\n") if diff else _view(paths, data["written"])
    console.show(console.Result(data, view))


def _view(paths: list[str], written: bool) -> str:
    if not paths:
        return "  everything is there already"
    count = f"{len(paths)} file{'s' * (len(paths) != 1)}{'' if written else ' would be written'}"
    return "\n".join([*(f"  {path}" for path in paths), f"  {count}"])


def _pack(names: list[str], path: Path, force: bool, dry_run: bool) -> None:
    from fictl.scaffold.skills import select_skills, write_zip

    if len(names) != 1:
        raise UsageError("--zip packs one skill", "fictl skills install SKILL --zip FILE")
    (skill,) = select_skills(names)
    changed = write_zip(skill, path, force, dry_run)
    data = {"written": changed and not dry_run, "path": str(path), "skill": skill.name}
    view = _view([str(path)] if changed else [], not dry_run)
    console.show(console.Result(data, view))
