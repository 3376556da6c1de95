"""fictl trust add: believe what a key signs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from fictl.cli import console
from fictl.cli.options import DryRun, Json

EXAMPLES = {
    "fictl trust add ci ci.key.pub": "for all projects",
    "fictl trust add alice alice.pub --project my_kernels --expires 2027-12-31": "for one project, until a day",
}


def command(
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help="Name for it, as in ci or alice.", show_default=False),
    ],
    key: Annotated[
        str,
        typer.Argument(
            metavar="KEY",
            help="Public key: the line that begins with RW, or the file that ends with .pub.",
            show_default=False,
        ),
    ],
    project: Annotated[
        list[str] | None,
        typer.Option(
            "--project",
            metavar="PATTERN",
            help="Project it may sign builds of, with wildcards; repeat it for more.  [default: all]",
            show_default=False,
        ),
    ] = None,
    expires: Annotated[
        str,
        typer.Option(
            "--expires", metavar="DATE", help="Its last day, as in 2027-12-31.", show_default=False
        ),
    ] = "",
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Trust a key: builds that it signed are loaded as if they were compiled here."""
    from fictl.trust import keys_file
    from fictl.trust.key import PublicKey, read_public

    public = read_public(Path(key)) if os.path.exists(key) else PublicKey.parse(key)
    entry = {"name": name, "public": public.line}
    limits = {"projects": project or ["*"], **({"expires": expires} if expires else {})}
    trusted = keys_file.TrustedKey.parse({**entry, **limits})
    added = keys_file.add(trusted, dry_run)
    path = keys_file.keys_path()
    how = "was trusted already" if not added else "would be trusted" if dry_run else "is trusted"
    data = {"dry_run": dry_run, "added": added, "file": str(path), **trusted.to_dict()}
    until = f" until {trusted.expires}" if trusted.expires else ""
    text = f"{name} ({public.id}) {how} for {' '.join(trusted.projects)}{until}, in {path}"
    console.show(console.Result(data, text))
