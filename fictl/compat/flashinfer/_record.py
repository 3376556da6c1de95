"""FICTL_RECORD: records a program's calls of FlashInfer's names, for `fictl replay`."""

from __future__ import annotations

import inspect
import os
from functools import cache, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fictl import settings
from fictl.compat.flashinfer._names import ALIAS, VERSION, below, theirs
from fictl.log import warn_once

if TYPE_CHECKING:
    from fictl.replay.recording.recorder import Recorder

_OPS = "fictl.kernels."
_GRAPHS = {"capture_begin": "capture", "capture_end": "end", "replay": "replay"}


def recorded_value(module: str, name: str, place: str, value: Any) -> Any:
    """Return what records the calls of an op, where the setting asks for it; else `value`."""
    if settings.RECORD.get() is None or not place.startswith(_OPS):
        return value
    return _recorder().watch(f"{ALIAS}.{below(theirs(module), name)}", value)


# Why one for the process: its calls are in one file, in order.
@cache
def _recorder() -> Recorder:
    from fictl.replay.recording.recorder import Recorder
    from fictl.tracing.saving_at_end import save_at_end

    recorder = Recorder()
    folder = settings.RECORD.get()
    assert folder is not None
    _watch_graphs(recorder)
    owner = [os.getpid()]
    save_at_end(lambda: _save(recorder, folder, owner), owner.clear)
    return recorder


def _save(recorder: Recorder, folder: Path, owner: list[int]) -> None:
    if not owner:  # In a child that the program forked.
        return
    recording = recorder.recording("a program", f"pid{owner[0]}", f"{ALIAS} {VERSION}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"calls_pid{owner[0]}.json").write_text(recording.text(), encoding="utf-8")
    except OSError as error:
        warn_once(f"calls are not recorded in {folder}: {error}")


def _watch_graphs(recorder: Recorder) -> None:
    """Keep when CUDA graphs are captured, and when they run."""
    import torch

    kind: Any = torch.cuda.CUDAGraph
    names: dict[int, str] = {}

    def watched(method: str, event: str) -> Any:
        function = getattr(kind, method)

        @wraps(function)
        def call(graph: Any, *args: Any, **kwargs: Any) -> Any:
            recorder.graph(names.setdefault(id(graph), f"g{len(names)}"), event)
            return function(graph, *args, **kwargs)

        return call

    for method, event in _GRAPHS.items():
        if inspect.isroutine(getattr(kind, method, None)):
            setattr(kind, method, watched(method, event))
