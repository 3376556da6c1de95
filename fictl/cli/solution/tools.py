"""fictl solution tools: what an agent may call, as JSON schemas."""

from __future__ import annotations

from fictl.cli import console
from fictl.cli.options import Json

EXAMPLES = {
    "fictl solution tools": "names and what they do",
    "fictl solution tools --json": "with JSON Schemas, for a model",
}


def command(json: Json = False) -> None:
    """List the functions of fictl.judge.tools with the schemas of their arguments.

    With --json, in the form that language models take as tool definitions.
    """
    from fictl.judge.tools import tools_schema

    entries = tools_schema()
    rows = [[entry["name"], entry["description"]] for entry in entries]
    view = console.Table(("tool", "what it does"), rows)
    console.show(console.Result({"tools": entries}, view))
