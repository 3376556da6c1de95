"""The trees that every kind gives for the arguments in golden/<kind>.toml; run it to write them.

A template that changes shows in them, line by line, and they are built and tested like any project.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import typer

from fictl.cli.new_op import command, request_of
from fictl.project import Project
from fictl.scaffold.new.new_op import draft, plan_op
from fictl.scaffold.new.request import NewOpRequest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

GOLDEN = Path(__file__).parent / "golden"
KINDS = sorted(path.stem for path in GOLDEN.glob("*.toml"))
PROJECT_FILE = 'name = "my_kernels"\n'


def arguments(kind: str) -> list[str]:
    """Of `fictl new-op`."""
    table = tomllib.loads((GOLDEN / f"{kind}.toml").read_text(encoding="utf-8"))
    return [*map(str, table["arguments"])]


def request(kind: str) -> NewOpRequest:
    """The request of those arguments."""
    app = typer.Typer(add_completion=False)
    app.command()(command)
    context = typer.main.get_command(app).make_context("new-op", arguments(kind))
    return request_of(context.params)


def tree(kind: str) -> dict[str, str]:
    """Path within the project -> text."""
    root = GOLDEN / kind
    project = Project(
        "my_kernels", "my_kernels", root, root / "kernels", root / "tests/kernels", ""
    )
    plan = plan_op(draft(project, request(kind), overwrite=True), polished=False)
    texts = {path.relative_to(root).as_posix(): text for path, text in plan.files.items()}
    return {"fictl.toml": PROJECT_FILE, **{k: v for k, v in texts.items() if v is not None}}


def main() -> None:
    for kind in sys.argv[1:] or KINDS:
        shutil.rmtree(GOLDEN / kind, ignore_errors=True)
        for name, text in tree(kind).items():
            path = GOLDEN / kind / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
