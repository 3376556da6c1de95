"""Commands of fictl at a place, on a project's files from another machine."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from tempfile import TemporaryFile
from typing import IO, Any

from fictl.child.family import descendants, end_below
from fictl.child.last_lines import LastLines
from fictl.child.local_process import LocalProcess
from fictl.errors import FictlError, shown
from fictl.farm.exchange import Exchange
from fictl.farm.line import Blob, CommandDone, RunCommand
from fictl.farm.own_folder import own_folder
from fictl.farm.tree import pack_folder, unpack
from fictl.removal import remove

BUILDS = "builds"
_MOST_DOCUMENT = 48 << 20  # Below the longest line.
_TIMED_OUT = -9
_COMMAND = "fictl.farm.serve.command"


class CommandServer:
    """Runs one command at a time, each in a process of its own."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange

    def run(self, request: RunCommand) -> CommandDone:
        folder = own_folder("trees")
        try:
            tree = folder / "tree"
            tree.mkdir(mode=0o700)
            if request.tree is not None:
                self._exchange.fetch((request.tree,))
                unpack(self._exchange.blobs.path(request.tree), tree)
            inner = tree.joinpath(*_inside(request.folder))
            done = _ran(request, inner)
            kept = dict(self._kept(request, done, inner, folder))
            return CommandDone(done.code, done.document, done.words, kept)
        finally:
            remove(folder)

    def _kept(
        self, request: RunCommand, done: CommandDone, tree: Path, scratch: Path
    ) -> Iterator[tuple[str, Blob]]:
        for name in request.keeps:
            if name == BUILDS:
                for path in _builds_in(done.document):
                    packed = scratch / f"{secrets.token_hex(4)}.tar"
                    pack_folder(path, packed)
                    yield str(path), self._exchange.give(packed)
            elif os.path.isfile(tree.joinpath(*_inside(name))):
                yield name, self._exchange.give(tree.joinpath(*_inside(name)))


def _ran(request: RunCommand, folder: Path) -> CommandDone:
    argv = (sys.executable, "-m", _COMMAND, str(os.getpid()), *request.argv, "--json")
    last = LastLines()
    before = descendants(os.getpid())
    with TemporaryFile() as out:
        process = LocalProcess(argv, request.variables, out, last.end, cwd=folder)
        try:
            code = process.wait(request.seconds)
        except subprocess.TimeoutExpired:
            code = _TIMED_OUT
        finally:
            process.close()
            end_below(os.getpid(), before)  # What has left the command's family, too.
        return CommandDone(code, _document(out), last.text())


def _document(file: IO[bytes]) -> str:
    size = file.seek(0, os.SEEK_END)
    if size > _MOST_DOCUMENT:
        raise FictlError(f"the answer of the command has {size} bytes", "ask for fewer ops")
    file.seek(0)
    return file.read().decode(errors="replace")


def _builds_in(document: str) -> Iterator[Path]:
    """Yield the folders of the builds that `fictl build` names."""
    try:
        data: Any = json.loads(document)["data"]
        paths = [module["path"] for module in data if module["path"]]
    except (ValueError, KeyError, TypeError):
        return
    yield from map(Path, dict.fromkeys(paths))


def _inside(name: str) -> tuple[str, ...]:
    parts = PurePosixPath(name).parts
    if ".." in parts or parts[:1] == ("/",):
        raise FictlError(f"{shown(name)} leads out of the project")
    return parts
