"""DumpWriter: writes each call to its own folder, the inputs before the call can fail."""

from __future__ import annotations

import inspect
import os
import platform
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import torch

from fictl import settings, version
from fictl.log import warn_once
from fictl.op.declared import Op
from fictl.op.watch.call import Call
from fictl.op.watch.dump.limits import Limits
from fictl.op.watch.dump.record import Failure, Record
from fictl.op.watch.dump.tensors import write_tensors
from fictl.op.watch.dump.values import Encoder

# Settings that decide which code runs, besides the op's own.
_VARIANT: tuple[settings.Setting[Any], ...] = (
    settings.EMU_CHECK,
    settings.EMU_SCHEDULE,
    settings.JIT_DEBUG,
    settings.JIT_LINEINFO,
    settings.EXTRA_CUDAFLAGS,
    settings.EXTRA_CFLAGS,
    settings.DISABLE_JIT,
)


@dataclass(frozen=True)
class _Dump:
    """The dump of a running call."""

    folder: Path
    record: Record
    expected: int
    start: float = field(default_factory=time.perf_counter)

    def end(self, **changes: Any) -> None:
        self.record.model_copy(update=changes).append_to(self.folder)

    def fail(self, error: BaseException, seconds: float) -> None:
        what = Failure(type=type(error).__name__, message=str(error))
        self.end(status="failed", error=what, seconds=seconds)


class DumpWriter:
    """An observer. An error in it becomes a warning, and the user's call continues."""

    def __init__(self, folder: Path, limits: Limits, as_safetensors: bool = True) -> None:
        self._folder = folder.absolute()
        self._limits = limits
        self._as_safetensors = as_safetensors
        self._begun: WeakKeyDictionary[Call, _Dump] = WeakKeyDictionary()
        self._broken = False

    @classmethod
    def from_settings(cls) -> DumpWriter:
        folder, form = settings.DUMP_DIR.get(), settings.DUMP_SAFETENSORS.get()
        return cls(folder, Limits.from_settings(), form)

    def before(self, call: Call) -> None:
        if self._broken or not self._limits.wants(call.op):
            return
        if _captures():
            warn_once(f"{call.op.api} is not dumped while a CUDA graph is captured")
            return
        self._try(call.op, lambda: self._begin(call))

    def after(self, call: Call, result: Any) -> None:
        dump = self._begun.pop(call, None)
        if dump:
            seconds = time.perf_counter() - dump.start
            self._try(call.op, lambda: self._end(dump, call, result, seconds))

    def failed(self, call: Call, error: BaseException) -> None:
        dump = self._begun.pop(call, None)
        if dump:
            seconds = time.perf_counter() - dump.start
            self._try(call.op, lambda: dump.fail(error, seconds))

    def _try(self, op: Op, step: Callable[[], None]) -> None:
        try:
            step()
        except OSError as error:
            self._broken = True
            warn_once(f"calls are no longer dumped to {self._folder}: {error}")
        except Exception as error:
            warn_once(f"a call of {op.api} is not dumped: {type(error).__name__}: {error}")

    def _begin(self, call: Call) -> None:
        encoder = Encoder()
        arguments = {name: encoder.encode(value, name) for name, value in call.arguments.items()}
        expected = _written(call)[0].size
        if not self._limits.admit(encoder.size + expected):
            return
        folder = self._make_folder(call)
        try:
            inputs = write_tensors(folder, "inputs", encoder.tensors, self._as_safetensors)
            facts = {**_facts(call), **_gpu(encoder.tensors)}
            record = Record(**facts, arguments=arguments, inputs=inputs)
            record.append_to(folder)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        self._begun[call] = _Dump(folder, record, expected)

    def _end(self, dump: _Dump, call: Call, result: Any, seconds: float) -> None:
        encoder, written = _written(call)
        returned = encoder.encode(result, "result")
        if not self._limits.grow(max(0, encoder.size - dump.expected)):
            left_out = f"outputs left out: {settings.DUMP_MAX_SIZE_GB.name}"
            dump.end(status="completed", seconds=seconds, note=left_out)
            return
        try:
            outputs = write_tensors(dump.folder, "outputs", encoder.tensors, self._as_safetensors)
        except RuntimeError as error:  # A kernel fault appears when its results are read.
            dump.fail(error, seconds)
            return
        dump.end(
            status="completed", seconds=seconds, outputs=outputs, written=written, result=returned
        )

    def _make_folder(self, call: Call) -> Path:
        """Make a private folder, since a dump contains the user's data."""
        now = datetime.now().astimezone()
        name = f"{now:%Y%m%d_%H%M%S}_pid{os.getpid()}_{call.op.name}_call{call.sequence:04}"
        self._folder.mkdir(parents=True, exist_ok=True)
        # Containers that share the folder may have equal process ids.
        for other in ("", *(f"_{n}" for n in range(2, 1000))):
            folder = self._folder / f"{name}{other}"
            with suppress(FileExistsError):
                folder.mkdir(mode=0o700)
                return folder
        raise FileExistsError(f"{self._folder / name} exists")


def _captures() -> bool:
    """Return whether a CUDA graph is being captured, without initialising CUDA."""
    ready = torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
    return bool(ready and torch.cuda.is_current_stream_capturing())


def _written(call: Call) -> tuple[Encoder, dict[str, Any]]:
    """Return the arguments that the call writes, if any were passed."""
    encoder = Encoder()
    given = {name: call.arguments.get(name) for name in call.op.mutates}
    return encoder, {
        name: encoder.encode(value, name) for name, value in given.items() if value is not None
    }


def _facts(call: Call) -> dict[str, Any]:
    op = call.op
    own = [settings.Setting(name, "text", str, "", "") for name in op.settings]
    origins = {variable.name: variable.origin().text for variable in (*_VARIANT, *own)}
    return {
        "op": op.api,
        "module": op.module,
        "sequence": call.sequence,
        "pid": os.getpid(),
        "rank": settings.RANK.get(),
        "time": datetime.now().astimezone().isoformat(timespec="milliseconds"),
        "versions": {
            "fictl": version.VERSION,
            "commit": version.commit(),
            "torch": str(torch.__version__),
            "python": platform.python_version(),
            "cuda": torch.version.cuda or "",
        },
        "signature": str(inspect.signature(call.function)),
        "settings": {
            settings.DEVICE.name: settings.DEVICE.get(),
            **{name: text for name, text in origins.items() if text},
        },
    }


def _gpu(tensors: dict[str, torch.Tensor]) -> dict[str, str]:
    """Return GPU and stream of a call; CUDA is not used for a call without CUDA tensors."""
    device = next((tensor.device for tensor in tensors.values() if tensor.is_cuda), None)
    if device is None:
        return {"gpu": "", "stream": ""}
    stream = torch.cuda.current_stream(device).cuda_stream
    return {"gpu": torch.cuda.get_device_name(device), "stream": f"{stream:#x}"}
