from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest


def test_tools_are_listed_with_the_commands_that_they_run(fictl, repo: Path) -> None:
    lines = fictl("mcp", "--list").out.splitlines()
    assert lines[0].split() == ["tool", "runs"]
    assert "explain            fictl cache explain" in lines


def test_as_json_they_are_what_an_agent_is_told(fictl, repo: Path) -> None:
    document = fictl("mcp", "--list", "--json").document
    assert document["schema"] == "fictl.mcp/1"
    assert all({*tool} == {"name", "description", "input_schema"} for tool in document["data"])


def test_a_server_prints_no_document(fictl, repo: Path) -> None:
    answer = fictl("mcp", "--json")
    assert answer.code == 2
    assert "--json goes with --list" in answer.document["error"]["message"]


def test_a_project_that_is_no_folder_is_refused(fictl, repo: Path) -> None:
    answer = fictl("mcp", "--project", "nowhere")
    assert answer.code == 2
    assert "--project nowhere is not a folder" in answer.err


def test_without_the_package_it_says_what_to_install(fictl, repo: Path, monkeypatch) -> None:
    real = importlib.util.find_spec
    missing = lambda name: None if name == "mcp" else real(name)  # noqa: E731
    monkeypatch.setattr("fictl.cli.mcp.find_spec", missing)
    answer = fictl("mcp")
    assert answer.code == 3
    assert "fictl mcp needs the package mcp" in answer.err
    assert "pip install 'fictl[mcp]'" in answer.err


def test_an_agent_lists_and_calls_tools_and_hears_nothing_but_the_protocol(repo: Path) -> None:
    pytest.importorskip("mcp")
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "a test", "version": "1"},
    }
    requests = [
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list"},
        {
            "id": 3,
            "method": "tools/call",
            "params": {"name": "list", "arguments": {"ops": ["halve"]}},
        },
        {
            "id": 4,
            "method": "tools/call",
            "params": {"name": "list", "arguments": {"ops": ["halv"]}},
        },
        {"id": 5, "method": "tools/call", "params": {"name": "test", "arguments": {"ops": ["-x"]}}},
    ]
    answers = _talk(repo, requests)
    assert {tool["name"] for tool in answers[2]["tools"]} >= {"new_op", "test", "run_solution"}
    document = answers[3]["structuredContent"]
    assert (document["schema"], document["ok"]) == ("fictl.list/1", True)
    assert document["data"][0]["function"] == "halve"
    assert json.loads(answers[3]["content"][0]["text"]) == document
    assert not answers[3].get("isError")
    assert answers[4]["isError"]
    assert "did you mean 'halve'?" in json.dumps(answers[4]["structuredContent"]["error"])
    assert "begins with a dash" in answers[5]["structuredContent"]["error"]["message"]


def _talk(project: Path, requests: list[dict]) -> dict[int, dict]:
    """Results by id; each line of stdout has to be a message."""
    server = subprocess.Popen(
        [sys.executable, "-m", "fictl", "mcp", "--project", str(project)],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdin is not None
    assert server.stdout is not None
    with server:
        for request in requests:
            server.stdin.write(json.dumps({"jsonrpc": "2.0", **request}) + "\n")
            server.stdin.flush()
        wanted = {request["id"] for request in requests if "id" in request}
        answers: dict[int, dict] = {}
        while {*answers} != wanted:
            message = json.loads(server.stdout.readline())
            answers[message["id"]] = message["result"]
        server.stdin.close()
        assert server.stdout.read() == ""
        assert server.wait(30) == 0
    return answers
