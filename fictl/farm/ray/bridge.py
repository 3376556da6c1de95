"""The process that is at a Ray cluster for a run, and the only file that imports ray.

Why a process of its own: Ray ends the process whose head is gone, takes over its signals and
writes to its stderr. Such an end is the loss of Ray's places here, and the run goes on.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from typing import Any

from fictl.child.requests import Answers, Requests
from fictl.farm.ray.holder import Holder
from fictl.farm.ray.messages import Ask, Connected, Dismiss, Ended, Hire, Node, Refused, Said
from fictl.farm.ray.needs import VARIABLES, is_loopback, split

_SELF = "fictl.farm.ray.bridge"
_SECONDS = 10.0
_CALLS_AT_ONCE = 8
_NODE, _PROBE = "node", "probe"
_LOOPBACK = "127.0.0.1"
_HAS_ENDED = "it has ended"


def main(words: Sequence[str]) -> int:
    if words[0] == _NODE:
        return _node(words[1:])
    if words[0] == _PROBE:
        _nodes_at(words[1])
        return 0
    return _bridge(words[0])


def _bridge(address: str) -> int:
    answers = Answers()
    try:
        nodes = _connected(address)
    except _NotConnected as error:
        answers.send(Refused(*error.args))
        return 1
    Bridge(answers, nodes).serve()
    return 0


class _NotConnected(Exception):
    """A message and a hint."""


def _connected(address: str) -> tuple[Node, ...]:
    """Connect, and return the living nodes; a cluster that anybody can use is refused before."""
    from ray.exceptions import AuthenticationError, RayError

    ray = _ray()
    try:
        hosts = _nodes_at(address)
    except AuthenticationError:
        what = f"the Ray cluster at {address} does not accept this token, or there is none"
        raise _NotConnected(what, f"set {VARIABLES}, as on its nodes") from None
    except (RayError, ValueError) as error:
        what = f"there is no head of a Ray cluster at {address}: {_shortly(error)}"
        raise _NotConnected(
            what, "its port is that of `ray start --head`, 6379 by default"
        ) from None
    routable = [host for host in (split(address)[0], *hosts) if not is_loopback(host)]
    if routable and _is_open(address):
        what = (
            f"the Ray cluster at {address} has no token: who reaches {routable[0]} runs code there"
        )
        raise _NotConnected(what, f"set {VARIABLES} for its nodes and here, and start it again")
    if all(map(is_loopback, hosts)):
        _stay_on_loopback()
    try:
        ray.init(
            address=address,
            log_to_driver=False,
            configure_logging=False,
            namespace="fictl",
        )
    except Exception as error:
        what = f"the Ray cluster at {address} cannot be used: {_shortly(error)}"
        hint = "this machine is one of its nodes, and has the Ray and Python of the others"
        raise _NotConnected(what, hint) from None
    return tuple(Node(n["NodeManagerAddress"], n["Resources"]) for n in ray.nodes() if n["Alive"])


def _nodes_at(address: str) -> list[str]:
    """List the hosts of the nodes that the head knows; this sends and reads no pickles."""
    raylet: Any = import_module("ray._raylet")
    nodes = raylet.GcsClient(address=address).get_all_node_info(timeout=_SECONDS)
    return [node.node_manager_address for node in nodes.values() if not node.state]


def _is_open(address: str) -> bool:
    """Tell whether the head answers a process without a token."""
    done = subprocess.run(
        [sys.executable, "-m", _SELF, _PROBE, address],
        env={**os.environ, "RAY_AUTH_MODE": "disabled"},
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=6 * _SECONDS,
    )
    return done.returncode == 0


def _stay_on_loopback() -> None:
    """Have Ray take 127.0.0.1 for what it is; it would put another address of this host there."""
    from ray._private import services

    services.get_node_ip_address = lambda address=None: _LOOPBACK


def _node(words: Sequence[str]) -> int:
    """Run `ray start` for a node that only this machine can reach."""
    from ray.scripts.scripts import cli

    _stay_on_loopback()
    cli(["start", f"--node-ip-address={_LOOPBACK}", *words])
    return 0


class Bridge:
    """Has a Holder for each place, and passes calls to them on."""

    def __init__(self, answers: Answers, nodes: tuple[Node, ...]) -> None:
        self._answers = answers
        self._actors: dict[int, Any] = {}
        self._nodes = nodes
        kinds = (Hire, Ask, Dismiss)
        self._requests = Requests(kinds, lambda: False, on_end=self._leave)

    def serve(self) -> None:
        self._answers.send(Connected(self._nodes))
        for request in self._requests:
            if isinstance(request, Hire):
                self._actors[request.key] = _hired(request)
            elif isinstance(request, Dismiss):
                _dismiss(self._actors.pop(request.key, None))
            else:
                self._ask(request)

    def _ask(self, ask: Ask) -> None:
        actor = self._actors.get(ask.key)
        if actor is None:
            self._answers.send(Ended(ask.number, _HAS_ENDED))
            return
        answered = partial(self._answered, ask.number)
        getattr(actor, ask.method).remote(ask.text).future().add_done_callback(answered)

    def _answered(self, number: int, future: Any) -> None:
        error = future.exception()
        if error is None:
            self._answers.send(Said(number, str(future.result())))
        else:
            self._answers.send(_ended(number, error))

    def _leave(self) -> None:
        """End all actors, as nobody waits for them; Ray would take longer."""
        for actor in [*self._actors.values()]:
            _dismiss(actor)
        os._exit(0)


def _hired(hire: Hire) -> Any:
    return (
        _ray()
        .remote(Holder)
        .options(
            num_cpus=1,
            num_gpus=hire.gpus,
            accelerator_type=hire.accelerator_type or None,
            scheduling_strategy="SPREAD",
            max_concurrency=_CALLS_AT_ONCE,
            max_restarts=0,
        )
        .remote()
    )


def _dismiss(actor: Any) -> None:
    if actor is not None:
        _ray().kill(actor)


def _ray() -> Any:
    import ray

    return ray


def _ended(number: int, error: BaseException) -> Ended:
    """Find the reason in Ray's report, which is many lines."""
    from ray.exceptions import ActorUnavailableError, RayActorError

    if isinstance(error, ActorUnavailableError):
        return Ended(number, "its node does not answer", is_node=True)
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    reasons = [line for line in lines if "because" in line or "Error: " in line]
    why = (reasons or lines or [type(error).__name__])[-1].partition(". ")[0][:300]
    if not isinstance(error, RayActorError):
        return Ended(number, why)
    return Ended(number, why, error.preempted, not error.actor_init_failed and "node" in why)


def _shortly(error: BaseException) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
