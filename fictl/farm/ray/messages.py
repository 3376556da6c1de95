"""Messages between a run and its bridge to a Ray cluster."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Node:
    """A living node; resources as Ray counts them."""

    host: str
    resources: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Connected:
    """The bridge's first message, if it is at the cluster."""

    nodes: tuple[Node, ...]


@dataclass(frozen=True)
class Refused:
    """The bridge's only message, if it is not."""

    message: str
    hint: str = ""


@dataclass(frozen=True)
class Hire:
    """Have an actor placed; it is known as `key` from now on. There is no answer."""

    key: int
    gpus: int
    accelerator_type: str


@dataclass(frozen=True)
class Ask:
    """Call a method of an actor with a text; the answer, Said or Ended, has the same number."""

    number: int
    key: int
    method: str
    text: str = ""


@dataclass(frozen=True)
class Dismiss:
    """End an actor, if it has not ended, and all that Ray runs for it. There is no answer."""

    key: int


@dataclass(frozen=True)
class Said:
    number: int
    text: str


@dataclass(frozen=True)
class Ended:
    """The actor has ended, or never began.

    is_preempted: the cluster took its node away. is_node: its node, or the way there, has failed.
    """

    number: int
    why: str
    is_preempted: bool = False
    is_node: bool = False
