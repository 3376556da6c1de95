"""One command in a process of its own, and the document it prints; cancelled, it ends in order."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import ByteReceiveStream, Process

from fictl.errors import FictlError, SetupError
from fictl.paths import same_packages

_LARGEST = 64 << 20
# For compilers and ranks to end, after SIGTERM.
_GRACE_SECONDS = 10.0
_LAST_WORDS = 2000

Tell = Callable[[str], Awaitable[None]]


async def document_of(
    words: Sequence[str], project: Path, seconds: float, tell: Tell
) -> dict[str, Any]:
    """Run `fictl WORDS` in the project; `tell` hears each line that it says on the way."""
    process = await anyio.open_process(
        [sys.executable, "-m", "fictl", *words],
        cwd=project,
        env={**os.environ, **same_packages()},
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )
    output, notes = bytearray(), bytearray()
    try:
        with anyio.fail_after(seconds):
            async with anyio.create_task_group() as group:
                assert process.stdout is not None
                assert process.stderr is not None
                group.start_soon(_collect, process.stdout, output)
                group.start_soon(_listen, process.stderr, notes, tell)
            await process.wait()
    except TimeoutError:
        raise SetupError(
            f"fictl {' '.join(words[:2])} was still running after {seconds:.15g} s, and was ended",
            "ask for less, or start the server with a larger --timeout",
        ) from None
    finally:
        with anyio.CancelScope(shield=True):
            await _end(process)
            await process.aclose()
    return _parsed(bytes(output), process.returncode, notes.decode(errors="replace"), words)


async def _collect(stream: ByteReceiveStream, output: bytearray) -> None:
    """Read to the end; of what is too large no more is kept than shows it."""
    async for piece in stream:
        if len(output) <= _LARGEST:
            output += piece


async def _listen(stream: ByteReceiveStream, notes: bytearray, tell: Tell) -> None:
    async for piece in stream:
        notes += piece
        lines = [line for line in piece.decode(errors="replace").splitlines() if line.strip()]
        for line in lines[-1:]:  # Of a burst the last says where it is.
            await tell(line.strip()[:200])
        del notes[:-_LAST_WORDS]


async def _end(process: Process) -> None:
    """End it as Ctrl-C would, so that its compilers end with it; what does not listen is killed."""
    if process.returncode is not None:
        return
    with suppress(ProcessLookupError):
        process.send_signal(signal.SIGTERM)
    with anyio.move_on_after(_GRACE_SECONDS):
        await process.wait()
        return
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()


def _parsed(output: bytes, code: int | None, notes: str, words: Sequence[str]) -> dict[str, Any]:
    if len(output) > _LARGEST:
        raise FictlError(
            f"the answer is larger than {_LARGEST >> 20} MiB", "ask for fewer ops or cases"
        )
    with suppress(ValueError):
        document = json.loads(output)
        if isinstance(document, dict):
            return document
    last = notes.strip().rpartition("\n")[2]
    raise FictlError(
        f"fictl {' '.join(words[:2])} ended with {code} and without a document",
        f"its last words: {last}" if last else "run it in a terminal to see more",
    )
