"""fictl skills install: skills as files of the project, or one as a zip."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fictl.cli import console
from fictl.cli.options import DryRun, Json
from fictl.cli.outputs import writes_file, writes_folder
from fictl.cli.scaffolded import Diff, Force, carry_out
from fictl.errors import UsageError

EXAMPLES = {
    "fictl skills install": "all, into .agents/skills of the project",
    "fictl skills install add-cuda-kernel --target ~/.agents/skills": "one, for every project",
}


def command(
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
    """Write skills where coding agents look for them. Existing files are kept."""
    if zip is None:
        _install(names or [], target, force, dry_run, diff)
    elif target or diff:
        raise UsageError("--zip writes one file", "leave --target and --diff out")
    else:
        _pack(names or [], zip, force, dry_run)


def _install(names: list[str], target: Path | None, force: bool, dry_run: bool, diff: bool) -> None:
    from fictl.scaffold.skills import plan_install, select_skills

    plan = plan_install(select_skills(names), target and target.absolute())
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
