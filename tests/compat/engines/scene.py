"""Scene: what an engine does while its calls are recorded, on tensors of a GPU that is not here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import torch

from fictl.compat.flashinfer._names import VERSION
from fictl.replay.recording.recorder import Recorder

from .away import Away

# One for all scenes: engines keep buffers from one to the next.
AWAY = Away()
FOLDER = Path(__file__).parent.parent / "recordings"
# Methods and functions whose kernels do not run for a recording: only their tensors matter.
_RUNS = ("run", "forward", "run_return_lse", "forward_return_lse")
_WATCHED = (
    "BatchDecodeWithPagedKVCacheWrapper",
    "BatchPrefillWithPagedKVCacheWrapper",
    "BatchPrefillWithRaggedKVCacheWrapper",
    "BatchAttentionWithAttentionSinkWrapper",
)


def without_kernels(
    name: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Plan, and run nothing: results are tensors of the right shape."""
    last = name.rpartition(".")[2]
    if last in _RUNS:
        out = kwargs.get("out")
        out = torch.zeros_like(args[1]) if out is None else out
        if last.endswith("lse") or kwargs.get("return_lse"):
            return out, args[1].new_zeros(args[1].shape[:2], dtype=torch.float32)
        return out
    if last == "merge_state":
        return torch.zeros_like(args[0]), torch.zeros_like(args[1])
    if "_with_kv_cache" in last:
        return kwargs["out"]
    if kwargs.get("kv_data_type") == torch.uint8:  # 4 bits: the plan matters for attributes alone
        kwargs = {**kwargs, "kv_data_type": torch.float8_e4m3fn}
    return None if "append" in last else function(*args, **kwargs)


class Scene:
    """One recording: `functions` are the names besides the wrappers, with the modules that have them."""

    def __init__(self, program: str, name: str, functions: Iterable[tuple[str, str, Any]]) -> None:
        self.program = program
        self.name = name
        self.recorder = Recorder(without_kernels, AWAY.place, AWAY.truth)
        self._functions = [*functions]

    @contextmanager
    def on(self) -> Iterator[Recorder]:
        """Record what the engine calls."""
        names = import_module("fictl.compat.flashinfer")
        for name in _WATCHED:
            self.recorder.watch(f"flashinfer.{name}", getattr(names, name))
        undo = []
        for name, word, module in self._functions:
            function = getattr(module, word)
            setattr(module, word, self.recorder.watch(name, function))
            undo.append((module, word, function))
        try:
            with AWAY, torch.no_grad():
                yield self.recorder
        finally:
            self.recorder.stop()
            for module, word, function in undo:
                setattr(module, word, function)

    def save(self) -> Path:
        recording = self.recorder.recording(self.program, self.name, f"flashinfer {VERSION}")
        path = FOLDER / f"{self.program.partition(' ')[0]}_{self.name}.json"
        path.write_text(recording.text(), encoding="utf-8")
        return path
