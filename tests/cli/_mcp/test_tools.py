from __future__ import annotations

import json

import pytest

from fictl.cli._mcp.tools import TOOLS, find_tool
from fictl.errors import UsageError

NAMES = pytest.mark.parametrize("name", TOOLS)


@NAMES
def test_a_tool_is_described_by_its_command(repo, name: str) -> None:
    tool = TOOLS[name]
    assert tool.description.startswith(" ".join(tool.command.help.split()))
    assert all(line in tool.description for line in tool.command.examples)


@NAMES
def test_no_tool_reaches_another_machine_or_changes_the_form_of_its_answer(name: str) -> None:
    assert {"on", "json"}.isdisjoint(TOOLS[name].parameters)


@NAMES
def test_every_argument_is_described_and_has_a_type(repo, name: str) -> None:
    schema = TOOLS[name].schema()
    assert schema["additionalProperties"] is False
    for argument in schema["properties"].values():
        assert argument["description"]
        assert argument["type"] in ("string", "boolean", "integer", "number", "array")
    assert json.loads(json.dumps(schema)) == schema


def test_arguments_have_the_names_of_options() -> None:
    schema = TOOLS["new_op"].schema()["properties"]
    assert {"name", "from", "from_definition", "dry_run", "input"} <= {*schema}
    assert schema["input"]["items"] == {"type": "string"}
    assert TOOLS["test"].schema()["properties"]["timeout"] == {
        "type": "number",
        "minimum": 0.1,
        "maximum": 86400.0,
        "default": 300.0,
        "description": "Time limit of one test, in seconds.",
    }
    assert TOOLS["run_solution"].schema()["required"] == ["file"]


def test_kinds_of_ops_are_in_the_description(repo) -> None:
    assert "Kinds: " in TOOLS["new_op"].description
    assert "elementwise: " in TOOLS["new_op"].description


def test_an_unknown_tool_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="there is no tool 'rm'") as caught:
        find_tool("rm")
    assert "new_op" in caught.value.hint
