"""The side of the protocol: tools are listed and called; an error is a document, as any command's."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import anyio
from mcp import types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from fictl.cli._mcp.process import Tell, document_of
from fictl.cli._mcp.tools import TOOLS, Tool, find_tool
from fictl.cli._mcp.words import command_line
from fictl.cli.console import described
from fictl.errors import FictlError
from fictl.version import VERSION

# More at once would time each other, and share the cores of one compiler.
_AT_ONCE = 2
_INSTRUCTIONS = (
    "fictl builds, tests, checks and times the CUDA kernels of the project {project}. The usual order: "
    "new_op (with dry_run first), edit the files, check, test, sanitize, bench, inspect. Without a GPU, "
    "tests run on an emulated device. Every answer is a document {{schema, ok, data, error}}, and an error "
    "has a message and a hint. Files are named relative to the project, and none is outside of it."
)


class ToolServer:
    """Runs tools in one project; calls beyond the first few wait for their turn."""

    def __init__(self, project: Path, timeout: float) -> None:
        self._project = project
        self._timeout = timeout
        self._turns = anyio.CapacityLimiter(_AT_ONCE)

    async def call(self, name: str, arguments: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
        """Return the document of a call; an error is in it."""
        try:
            words = command_line(find_tool(name), arguments, self._project)
            async with self._turns:
                return await document_of(words, self._project, self._timeout, tell)
        except FictlError as error:
            problem = described(error)
        return {"schema": "fictl.mcp/1", "ok": False, "data": None, "error": problem}

    def server(self) -> Server[Any]:
        """Return the server of the official SDK."""
        instructions = _INSTRUCTIONS.format(project=self._project)
        return Server(
            "fictl",
            version=VERSION,
            instructions=instructions,
            on_list_tools=self._list,
            on_call_tool=self._call,
        )

    async def _list(
        self, context: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[*map(_described, TOOLS.values())])

    async def _call(
        self, context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        lines = 0

        async def tell(line: str) -> None:
            nonlocal lines
            lines += 1
            await context.session.report_progress(lines, message=line)

        document = await self.call(params.name, params.arguments or {}, tell)
        text = json.dumps(document, default=str)
        return types.CallToolResult(
            content=[types.TextContent(text=text)],
            structured_content=document,
            is_error=document.get("error") is not None,
        )


def _described(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=tool.schema(),
        annotations=types.ToolAnnotations(
            read_only_hint=not tool.writes, destructive_hint=False, open_world_hint=False
        ),
    )


def serve(project: Path, timeout: float) -> None:
    """Serve on stdin and stdout until stdin ends."""
    anyio.run(partial(_serve, ToolServer(project, timeout).server()))


async def _serve(server: Server[Any]) -> None:
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())
