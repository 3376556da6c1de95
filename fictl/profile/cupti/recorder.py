"""Recorder of CUPTI's records, with all fields of a launch."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from fictl.errors import SetupError
from fictl.profile.cupti.work import BETWEEN, ApiCall, Copy, Kernel, Work
from fictl.timing.tracing import Tracing
from fictl.toolchain.kernel_name import readable

# CUpti_ActivityMemcpyKind
_COPIES = {
    1: "host to device",
    2: "device to host",
    3: "host to array",
    4: "array to host",
    5: "array to array",
    6: "array to device",
    7: "device to array",
    8: "device to device",
    9: "host to host",
    10: "peer to peer",
}
# CUpti_ActivityMemoryKind, the value that explains a slow copy.
_PAGEABLE = 1
_API = {"RUNTIME": "runtime_api_trace_cbid", "DRIVER": "driver_api_trace_cbid"}


class Recorder(Tracing):
    """A context manager. `work` and `api` are sorted by start time, once `collect` has run."""

    kinds = (
        "CONCURRENT_KERNEL",
        "MEMCPY",
        "MEMCPY2",
        "MEMSET",
        "RUNTIME",
        "DRIVER",
        "EXTERNAL_CORRELATION",
    )

    def __init__(self) -> None:
        super().__init__()
        self.work: list[Work] = []
        self.api: list[ApiCall] = []
        self._kinds: dict[int, str] = {}
        self._heard: list[Work | ApiCall] = []
        self._call_of: dict[int, int] = {}
        self._names: dict[tuple[str, int], str] = {}

    def __enter__(self) -> Recorder:
        super().__enter__()
        return self

    def prepare(self) -> None:
        self._kinds = {self.number(name): name for name in self.kinds}

    def hear(self, records: Iterable[Any]) -> None:
        for record in records:
            kind = self._kinds.get(int(record.kind))
            if kind == "EXTERNAL_CORRELATION":
                self._call_of[record.correlation_id] = record.external_id
            elif kind in _API:
                self._heard.append(self._api_call(kind, record))
            elif kind == "CONCURRENT_KERNEL":
                self._heard.append(_kernel(record))
            elif kind is not None:
                self._heard.append(_copy(kind, record))

    def forget(self) -> None:
        """Drop the records so far, which come from the warm-up."""
        self.flush()
        self._heard.clear()
        self._call_of.clear()

    def collect(self, otherwise: int = BETWEEN) -> None:
        """Collect the records after all work has ended; raise an error if some were lost.

        Work that no `run` launched is assigned to the call `otherwise`.
        """
        lost = self.flush()
        if lost:
            raise SetupError(
                f"CUPTI lost {lost} records: more came at once than it could keep",
                "record fewer calls at a time",
            )
        calls = self._call_of
        heard = [
            replace(activity, call=calls.get(activity.correlation, otherwise))
            for activity in self._heard
        ]
        heard.sort(key=lambda one: one.start)
        self.work = [activity for activity in heard if isinstance(activity, Work)]
        self.api = [activity for activity in heard if isinstance(activity, ApiCall)]
        if not self.work and any("Launch" in call.name for call in self.api):
            raise SetupError(
                "CUPTI saw launches, but recorded no kernel of this process", "fictl doctor"
            )

    def wait(self) -> None:
        """Wait until the GPU has done its work."""
        import torch

        torch.cuda.synchronize()

    def _api_call(self, kind: str, record: Any) -> ApiCall:
        return ApiCall(
            self._api_name(kind, record.cbid),
            record.start,
            record.end,
            BETWEEN,
            record.correlation_id,
            record.thread_id,
        )

    def _api_name(self, kind: str, number: int) -> str:
        """Name of an API function, without the suffix for the release that introduced this form."""
        if (kind, number) not in self._names:
            try:
                name = getattr(self._cupti, _API[kind])(number).name
            except (AttributeError, ValueError):
                name = f"{kind.lower()} call {number}"
            self._names[kind, number] = re.sub(r"(_ptsz|_ptds)?(_v\d+)?$", "", name)
        return self._names[kind, number]


def _kernel(record: Any) -> Kernel:
    return Kernel(
        readable(record.name),
        record.start,
        record.end,
        BETWEEN,
        *_where(record),
        grid=(record.grid_x, record.grid_y, record.grid_z),
        block=(record.block_x, record.block_y, record.block_z),
        cluster=(record.cluster_x, record.cluster_y, record.cluster_z),
        registers=record.registers_per_thread,
        static_shared=record.static_shared_memory,
        dynamic_shared=record.dynamic_shared_memory,
    )


def _copy(kind: str, record: Any) -> Copy:
    name = "fill" if kind == "MEMSET" else _COPIES.get(record.copy_kind, "copy")
    if kind != "MEMSET" and _PAGEABLE in (record.src_kind, record.dst_kind):
        name += ", pageable"
    return Copy(name, record.start, record.end, BETWEEN, *_where(record), bytes=record.bytes)


def _where(record: Any) -> tuple[int, int, int, int]:
    return record.correlation_id, record.device_id, record.stream_id, record.graph_id
