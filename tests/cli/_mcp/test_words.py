"""Words of agents are checked, every one, before a process starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.cli._mcp.tools import TOOLS
from fictl.cli._mcp.words import command_line
from fictl.errors import UsageError

pytest.importorskip("jsonschema")


def test_values_are_words_of_their_options(tmp_path: Path) -> None:
    arguments = {"name": "swish", "expr": "-x / y", "input": ["x:n", "y:n"], "dry_run": True}
    assert command_line(TOOLS["new_op"], arguments, tmp_path) == [
        "new-op",
        "--json",
        "--expr=-x / y",
        "--input=x:n",
        "--input=y:n",
        "--dry-run",
        "swish",
    ]


def test_a_flag_is_said_only_where_it_changes_something(tmp_path: Path) -> None:
    assert command_line(TOOLS["new_op"], {"dry_run": False}, tmp_path) == ["new-op", "--json"]
    assert command_line(TOOLS["bench"], {"refcheck": True}, tmp_path) == ["bench", "--json"]
    words = command_line(TOOLS["bench"], {"refcheck": False}, tmp_path)
    assert words == ["bench", "--json", "--no-refcheck"]


def test_a_single_letter_keeps_what_follows_as_its_value(tmp_path: Path) -> None:
    assert command_line(TOOLS["test"], {"keyword": "--junit=x"}, tmp_path)[2:] == ["-k--junit=x"]


@pytest.mark.parametrize("name", ["--help", "-x", "--on=ssh:other", "--"])
def test_a_name_that_would_be_an_option_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="begins with a dash"):
        command_line(TOOLS["test"], {"ops": [name]}, tmp_path)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("test", {"ops": ["../other/kernels/x.cu"]}),
        ("test", {"junit": "/etc/cron.d/x"}),
        ("test", {"junit": "reports/../../x.xml"}),
        ("test", {"ops": ["~/secrets"]}),
        ("bench", {"ops": ["link/x.cu"]}),
        ("bench", {"list": "link"}),
        ("new_op", {"name": "x", "from": "../torch_code.py:f"}),
        ("new_op", {"name": "x", "kernel": "link/k.cu:K"}),
        ("new_op", {"name": "x", "family": "../../x"}),
        ("run_solution", {"file": "a.json", "dataset": "/data"}),
        ("run_solution", {"file": "a.json", "workload": "file:///etc/passwd"}),
        ("bench", {"baseline": "torch,/etc/passwd"}),
        ("inspect", {"ops": ["/usr/lib/libcuda.so"]}),
    ],
)
def test_a_file_outside_of_the_project_is_refused(tmp_path: Path, tool: str, arguments) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "link").symlink_to(tmp_path)
    with pytest.raises(UsageError, match="is outside of the project"):
        command_line(TOOLS[tool], arguments, project)


def test_a_project_that_is_named_through_a_link_is_one_place(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    link = tmp_path / "link"
    link.symlink_to("project")
    words = command_line(TOOLS["test"], {"junit": str(tmp_path / "project" / "x.xml")}, link)
    assert words[-1] == f"--junit={tmp_path}/project/x.xml"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"ops": "swish"}, "ops: 'swish' is not of type 'array'"),
        ({"ops": [1]}, "ops.0: 1 is not of type 'string'"),
        ({"timeout": "soon"}, "timeout: 'soon' is not of type 'number'"),
        ({"timeout": -1}, "timeout: -1 is less than the minimum of 0.1"),
        ({"on": "ssh:other"}, "'on' was unexpected"),
        ({"json": False}, "'json' was unexpected"),
        ({"changed": "yes"}, "changed: 'yes' is not of type 'boolean'"),
        ({"ops": ["x" * 200_000]}, "longer than 100000 characters"),
        ({"ops": ["a\0b"]}, "null character"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(tmp_path: Path, arguments, told: str) -> None:
    with pytest.raises(UsageError) as caught:
        command_line(TOOLS["test"], arguments, tmp_path)
    assert told in caught.value.message
