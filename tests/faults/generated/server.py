"""A process that has loaded what commands need, and runs each request in a fork of itself.

It reads requests as lines of JSON, and answers with lines of JSON. The scratch folder is its
argument: `project` is where commands run, `home` and `cache` are theirs to write to, and nothing
else in it may change.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib
import io
import json
import os
import pkgutil
import shutil
import signal
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_NOT_LOADED = (
    "fictl.__main__",
    "fictl.compat",
    "fictl.debug.inside_gdb",
    "fictl.jit.cute.launch",
    "fictl.ops",
    "fictl.kernels",
)
_TINY = Path(__file__).parents[2] / "tiny_project"


class Scratch:
    """The folders, as they are before every request."""

    def __init__(self, root: Path, documents: Path) -> None:
        self.root, self.documents = root, documents
        self.project = root / "project"
        for name in ("home", "cache", "places"):
            (root / name).mkdir()
        self._make_places(root / "places")
        self.make_project()

    def make_project(self) -> None:
        shutil.rmtree(self.project, ignore_errors=True)
        shutil.copytree(_TINY, self.project, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copytree(self.documents, self.project / "documents")

    @staticmethod
    def _make_places(places: Path) -> None:
        (places / "folder").mkdir()
        (places / "file").write_text("text\n")
        (places / "binary").write_bytes(bytes(range(256)))
        os.mkfifo(places / "fifo")
        (places / "dangling").symlink_to(places / "nothing")
        (places / "loop").symlink_to(places / "loop")
        (places / "device").symlink_to("/dev/zero")
        with socket.socket(socket.AF_UNIX) as end:
            end.bind(str(places / "socket"))
        with (places / "sparse").open("wb") as file:
            file.truncate(1 << 30)

    def lay_out(self, name: str, kind: str, text: str) -> None:
        path = self.project / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        path.unlink(missing_ok=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        if kind == "text":
            path.write_bytes(text.encode("utf-8", "surrogateescape"))
        elif kind == "repeated":  # So that no request is of a megabyte.
            part, times, end = json.loads(text)
            path.write_text(part * times + end)
        elif kind == "folder":
            path.mkdir()
        elif kind != "gone":
            path.symlink_to(self.root / "places" / kind)

    def outside(self) -> dict[str, Any]:
        return seen(self.root, {"project", "home", "cache", "out", "err"})


def seen(root: Path, but: frozenset[str] | set[str] = frozenset()) -> dict[str, Any]:
    """Every file below it, as it is; what Python itself writes beside sources does not count."""
    found: dict[str, Any] = {}
    for folder, folders, files in os.walk(root):
        if Path(folder) == root:
            folders[:] = [name for name in folders if name not in but]
            files[:] = [name for name in files if name not in but]
        folders[:] = [name for name in folders if name != "__pycache__"]
        for name in (*folders, *files):
            path = os.path.join(folder, name)
            stat = os.lstat(path)
            found[os.path.relpath(path, root)] = (
                (stat.st_mode, stat.st_size, stat.st_mtime_ns) if name in files else stat.st_mode
            )
    return found


def differing(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    return sorted(n for n in before.keys() | after.keys() if before.get(n) != after.get(n))


def answer(scratch: Scratch, request: dict[str, Any]) -> dict[str, Any]:
    for name, kind, text in request["files"]:
        scratch.lay_out(name, kind, text)
    project, outside = seen(scratch.project), scratch.outside()
    code, hung = run(scratch, request)
    changed = differing(project, seen(scratch.project))
    said = {
        "code": code,
        "hung": hung,
        "changed": changed,
        "outside": differing(outside, scratch.outside()),
        "out": _text(scratch.root / "out"),
        "err": _text(scratch.root / "err"),
    }
    if changed or request["files"]:
        scratch.make_project()
    return said


def run(scratch: Scratch, request: dict[str, Any]) -> tuple[int, bool]:
    process = os.fork()
    if process == 0:
        _become_command(scratch, request)
    end = time.monotonic() + request["seconds"]
    while time.monotonic() < end:
        ended, status = os.waitpid(process, os.WNOHANG)
        if ended:
            _kill(process)
            return os.waitstatus_to_exitcode(status), False
        time.sleep(0.002)
    _kill(process)
    os.waitpid(process, 0)
    return -1, True


def _kill(process: int) -> None:
    """Its session, with what it has started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process, signal.SIGKILL)


def _become_command(scratch: Scratch, request: dict[str, Any]) -> None:
    code = 99
    try:
        os.setsid()
        os.chdir(scratch.project)
        os.environ.update(_variables(scratch))
        os.environ.update(request["variables"])
        for number, name in ((0, os.devnull), (1, scratch.root / "out"), (2, scratch.root / "err")):
            handle = os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
            os.dup2(handle, number)
        sys.stdin = open(0, closefd=False)
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)
        sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)
        sys.argv = ["fictl", *request["words"]]
        from fictl.cli import main

        code = main()
        sys.stdout.flush()
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 98
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def _variables(scratch: Scratch) -> dict[str, str]:
    return {
        "HOME": str(scratch.root / "home"),
        "FICTL_WORKSPACE_BASE": str(scratch.root / "cache"),
        "CUDA_VISIBLE_DEVICES": "",
        "TMPDIR": str(scratch.root / "home"),
        "NO_COLOR": "1",
    }


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")[:20_000]


def requests() -> Iterator[dict[str, Any]]:
    for line in sys.stdin:
        yield json.loads(line)


def load() -> None:
    """All of fictl, and what it imports; the commands as Typer makes them, once for all forks."""
    import fictl

    for module in pkgutil.walk_packages(fictl.__path__, "fictl."):
        if not module.name.startswith(_NOT_LOADED):
            importlib.import_module(module.name)
    cli = importlib.import_module("fictl.cli")
    cli.application = functools.cache(cli.application)
    for command in cli.application().commands.values():
        assert [*getattr(command, "commands", {}).values()] or command.params
    importlib.import_module("fictl.project").Project.shipped()
    # What only a command that refuses imports, which nearly all of them are to do: Rich.
    with contextlib.redirect_stderr(io.StringIO()):
        error = importlib.import_module("fictl.errors").FictlError("nothing", hint="nothing")
        importlib.import_module("fictl.cli.console").problem(error)
    # What is there now is shared with the forks, and no collection touches it.
    gc.freeze()


def main(root: str, documents: str) -> None:
    for name in [name for name in os.environ if name.startswith("FICTL_")]:
        del os.environ[name]
    scratch = Scratch(Path(root), Path(documents))
    load()
    for request in requests():
        sys.stdout.write(json.dumps(answer(scratch, request)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
