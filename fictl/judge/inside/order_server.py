"""Serves a builder's process: builds one order, behind the same walls as a solution.

No Python of a solution runs here, and the process ends with its order.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from fictl.errors import FictlError, SetupError
from fictl.jit.diagnose import BuildFailed, diagnose
from fictl.judge.fault import FAULT, is_of_machine
from fictl.judge.inside.traceback_text import told
from fictl.judge.process.channel import Channel, serve

# The result, in the process's folder.
MODULE = "ordered.so"


def run(channel: Channel, _post: int) -> NoReturn:
    serve(channel, answer, os._exit)


def answer(request: Mapping[str, Any]) -> dict[str, Any]:
    """Build; the answer says whether the module is there, or the first error of the compiler."""
    try:
        return {"ok": True, **_built(request["order"], Path(request["folder"]))}
    except BuildFailed as error:
        return {"ok": False, "kind": "build", **_failure(error)}
    except SetupError as error:
        return {"ok": False, "kind": "setup", "trace": error.message}
    except FictlError as error:
        return {"ok": False, "kind": "order", "trace": error.message}
    except Exception as error:
        kind = FAULT if is_of_machine(error) or isinstance(error, MemoryError) else "order"
        return {"ok": False, "kind": kind, "trace": told(error)}


def _built(order: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    from fictl.jit.order import files_of
    from fictl.jit.ordered import build
    from fictl.runnable.package_folder import publish

    sources = folder / "order" / "files"
    publish(sources, files_of(order))
    entry = build(order, sources)
    shutil.copyfile(entry.module, folder / MODULE)
    return {"seconds": entry.manifest.seconds}


def _failure(error: BuildFailed) -> dict[str, str]:
    try:
        log = (error.folder / "build.log").read_text(encoding="utf-8", errors="replace")
    except OSError:
        log = error.message
    diagnosis = diagnose(log)
    return {"first": diagnosis.first, "hint": diagnosis.hint, "log": log[-(256 << 10) :]}
