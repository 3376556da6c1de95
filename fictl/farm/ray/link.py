"""A run's end of its bridge to a Ray cluster; places of the cluster share it."""

from __future__ import annotations

import itertools
import json
import math
import socket
import sys
import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

from fictl.child.last_lines import LastLines
from fictl.child.local_process import LocalProcess
from fictl.child.lost import NotStarted
from fictl.child.message import of_kind, to_line
from fictl.child.session import Gone
from fictl.errors import shown
from fictl.farm.ray.cluster import require_ray, variables_of
from fictl.farm.ray.messages import Ask, Connected, Dismiss, Ended, Hire, Refused, Said
from fictl.farm.ray.needs import ClusterNeeds, split

_BRIDGE = "fictl.farm.ray.bridge"
_START_SECONDS = 90.0
_CONNECT_SECONDS = 5.0
_FIRST = {kind.__name__: kind for kind in (Connected, Refused)}
_LATER = {kind.__name__: kind for kind in (Said, Ended)}
# What Ray does not need to say, or to send: log lines of others, statistics, copies of folders.
# And after how many seconds without a head it ends: places are missed within 15.
_VARIABLES = {
    "RAY_gcs_rpc_server_reconnect_timeout_s": "15",
    "RAY_BACKEND_LOG_LEVEL": "fatal",
    "RAY_DEDUP_LOGS": "0",
    "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
    "RAY_USAGE_STATS_ENABLED": "0",
}
# A cluster that cannot be used is not tried again at once for each of its places.
_REFUSED_SECONDS = 1.0
_links: dict[str, Link] = {}
_refused: dict[str, tuple[float, NotStarted]] = {}
_one_at_a_time = threading.Lock()


class ActorGone(Gone):
    """The actor has ended, or the bridge has; see Ended."""

    def __init__(self, why: str, is_preempted: bool = False, is_node: bool = False) -> None:
        super().__init__(why)
        self.is_preempted, self.is_node = is_preempted, is_node


def link_to(address: str) -> Link:
    """Return the link to a cluster, a new one if there is none. NotStarted: it cannot be used."""
    require_ray()
    with _one_at_a_time:
        link = _links.get(address)
        if link is None or link.has_ended:
            link = _links[address] = _new_link(address)
        return link


def _new_link(address: str) -> Link:
    until, error = _refused.get(address, (0.0, None))
    if error is not None and time.monotonic() < until:
        raise error
    try:
        return Link(address)
    except NotStarted as error:
        _refused[address] = (time.monotonic() + _REFUSED_SECONDS, error)
        raise


def end_links() -> None:
    """End the bridges of this process, which end by themselves when it does."""
    with _one_at_a_time:
        _refused.clear()
        while _links:
            _links.popitem()[1].close()


class Link:
    """A started bridge. Any thread may call its methods."""

    def __init__(self, address: str) -> None:
        self._address = address
        _knock(address)
        self._last = LastLines()
        argv = (sys.executable, "-m", _BRIDGE, address)
        variables: Mapping[str, str] = {**_VARIABLES, **variables_of(address)}
        self._process = LocalProcess(argv, variables, err=self._last.end)
        self._last.end.close()
        self.nodes = self._greeted().nodes
        self._numbers = itertools.count()
        self._waiting: dict[int, Future[str]] = {}
        self._lock = threading.Lock()
        self._why = ""
        threading.Thread(target=self._listen, name=f"ray {address}", daemon=True).start()

    @property
    def has_ended(self) -> bool:
        return bool(self._why) or self._process.has_ended

    def hire(self, needs: ClusterNeeds) -> int:
        """Have an actor placed, and return its key."""
        key = next(self._numbers)
        with suppress(Gone):
            self._send(Hire(key, needs.gpus or 0, needs.accelerator_type))
        return key

    def ask(self, key: int, method: str, text: str = "") -> Future[str]:
        """Call a method of the actor; the future may raise ActorGone."""
        answer: Future[str] = Future()
        number = next(self._numbers)
        with self._lock:
            self._waiting[number] = answer
            why = self._why
        try:
            self._send(Ask(number, key, method, text))
        except Gone as gone:
            why = why or gone.message
        if why:
            self._settle(number, ActorGone(why))
        return answer

    def dismiss(self, key: int) -> None:
        with suppress(Gone):
            self._send(Dismiss(key))

    def close(self) -> None:
        self._process.hang_up()
        self._process.close()

    def _greeted(self) -> Connected:
        deadline = time.monotonic() + _START_SECONDS
        while line := self._process.next_line(deadline):
            with suppress(ValueError):
                first = of_kind(_FIRST, json.loads(line))
                if isinstance(first, Connected):
                    return first
                self._process.close()
                raise NotStarted(first.message, first.hint)
        how = self._process.close() if line == "" else f"nothing within {_START_SECONDS:g} s"
        self._process.close()
        last = self._last.text().strip().splitlines()
        what = f"the Ray cluster at {self._address} cannot be used: {how}"
        raise NotStarted(what, shown(last[-1]) if last else "")

    def _send(self, message: object) -> None:
        line = to_line(message)
        with self._lock:
            self._process.write_line(line)

    def _listen(self) -> None:
        try:
            while line := self._process.next_line(math.inf):
                answer = of_kind(_LATER, json.loads(line))
                if isinstance(answer, Said):
                    self._settle(answer.number, answer.text)
                else:
                    gone = ActorGone(answer.why, answer.is_preempted, answer.is_node)
                    self._settle(answer.number, gone)
        except (ValueError, OSError) as error:
            self._why = f"the connection to the Ray cluster sent {error}"
        with self._lock:
            self._why = self._why or f"the connection to the Ray cluster at {self._address} ended"
            left = [*self._waiting]
        for number in left:
            self._settle(number, ActorGone(self._why))
        self._process.close()

    def _settle(self, number: int, answer: str | ActorGone) -> None:
        with self._lock:
            future: Any = self._waiting.pop(number, None)
        if future is None:
            return
        if isinstance(answer, str):
            future.set_result(answer)
        else:
            future.set_exception(answer)


def _knock(address: str) -> None:
    """Refuse an address where nobody listens, for which Ray would wait long."""
    try:
        socket.create_connection(split(address), _CONNECT_SECONDS).close()
    except OSError as error:
        what = (
            f"nobody answers at {address}, where a Ray cluster should be: {error.strerror or error}"
        )
        raise NotStarted(what, "`ray status`, run there, says whether it runs") from None
