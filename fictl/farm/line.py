"""The protocol of a worker: messages of one JSON line each. Documents are sent as JSON text."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fictl.child.message import Failed, of_kind
from fictl.judge.config import EvalConfig
from fictl.printable import printable_document

# Grows when an older process would misread a message of a newer one, or the reverse.
PROTOCOL = 3
HEARTBEAT_SECONDS = 5.0
# A worker that missed so many is lost.
MISSED_HEARTBEATS = 3
FRAME_BYTES = 1 << 20
_LONGEST_HELLO = 1 << 16


@dataclass(frozen=True)
class Greeting:
    """The first request of a run; the process answers Ready before it gets any work.

    holds: it locks the GPU on its own machine, and waits for it at most `wait` seconds; as many as
    the place has, which are `gpus`.
    checks: the answer also has what takes a moment to find out.
    run: what the workers of one run on one machine have built, they share by this name.
    builds: at most so many at once; 0 leaves it to the worker.
    compiles: a device whose compilers the answer names.
    untrusted: it will judge what nobody trusts, which needs walls.
    remotes: hashes of the URLs of remote caches that large files may go through.
    heartbeat: seconds between two signs of life.
    """

    device: str
    holds: bool = False
    wait: float | None = None
    checks: bool = False
    gpus: int = 1
    run: str = ""
    builds: int = 0
    compiles: str = ""
    untrusted: bool = False
    remotes: tuple[str, ...] = ()
    heartbeat: float = HEARTBEAT_SECONDS
    protocol: int = PROTOCOL


@dataclass(frozen=True)
class Ready:
    """The facts of a place. `hardware` is empty where it sees no GPU and needs one.

    gpus: how many its processes see. kernels: the hash of the shipped ops. sandbox, nvcc, holder
    (of a GPU's lock), toolchain: if asked for. remote: the one of the greeting's that it uses, too,
    for large files. unlocked: why its GPU cannot be locked at all, if asked for.
    exposed: why it cannot judge what nobody trusts; empty if it can, or was not asked.
    """

    protocol: int
    fictl: str
    python: str
    hardware: str
    commit: str = ""
    torch: str = ""
    driver: str = ""
    gpu: str = ""
    uuid: str = ""
    clocks: str = ""
    platform: str = ""
    host: str = ""
    cores: int = 0
    free_bytes: int = 0
    sandbox: str = ""
    nvcc: str = ""
    holder: str = ""
    kernels: str = ""
    toolchain: dict[str, str] = field(default_factory=dict)
    remote: str = ""
    unlocked: str = ""
    exposed: str = ""
    gpus: int = 0


@dataclass(frozen=True)
class Heartbeat:
    """Sent every few seconds while there is work: the process, and its connection, are alive."""


@dataclass(frozen=True, kw_only=True)
class Numbered:
    """A request, or its answer, which repeats the number: an answer to another is none."""

    number: int = 0


@dataclass(frozen=True)
class HoldGpu(Numbered):
    """Lock the GPU, as the greeting asks for; the answer, Held, comes once it is."""


@dataclass(frozen=True)
class Held(Numbered):
    """The GPU is locked, or none is needed."""


@dataclass(frozen=True)
class Note:
    """Something for people, as whom the place waits for."""

    text: str


@dataclass(frozen=True)
class Leaving:
    """The process was asked to end, as by a batch system: its work is for others, and no loss."""


@dataclass(frozen=True)
class Blob:
    """A file by its content."""

    sha256: str
    size: int


@dataclass(frozen=True)
class Wanted:
    """Blobs of a request that the place does not have; each comes as frames or as AtRemote.

    by_pipe: as frames alone, as the remote did not give them.
    """

    blobs: tuple[Blob, ...]
    by_pipe: bool = False


@dataclass(frozen=True)
class AtRemote:
    """The remote that both ends use has this blob."""

    blob: Blob


@dataclass(frozen=True)
class Taken:
    """The reply to AtRemote of an answer: whether the remote gave exactly these bytes."""

    is_taken: bool


@dataclass(frozen=True)
class Coming:
    """A blob of an answer, whose frames follow."""

    blob: Blob


@dataclass(frozen=True)
class Frame:
    """A part of a blob, in base64; parts come in order."""

    sha256: str
    data: str


@dataclass(frozen=True)
class Absent:
    """The other end cannot read the blob any more, which is `why`."""

    sha256: str
    why: str


@dataclass(frozen=True)
class JobStarted:
    """The following builds and evaluations belong to this job; it has no answer.

    root: the dataset's folder where the place sees this machine's files.
    """

    isolated: bool
    config: EvalConfig
    definition: str
    solution: str
    root: Path | None = None
    scratch: Path | None = None


@dataclass(frozen=True)
class BuildSolution(Numbered):
    """Build the job's solution in its scratch folder."""


@dataclass(frozen=True)
class EvaluateWorkload(Numbered):
    """Evaluate the job's solution on one workload; `files` of the dataset by their paths in it.

    waits: it waits for a build that is not ready, unless others are.
    """

    workload: str
    files: dict[str, Blob] = field(default_factory=dict)
    waits: bool = False


@dataclass(frozen=True)
class Evaluated(Numbered):
    """The answer to both requests; None after a successful build."""

    evaluation: str | None


@dataclass(frozen=True)
class Deferred(Numbered):
    """The evaluation needs the build `waits_for`; those of `built` ended since the last of these."""

    waits_for: str
    built: tuple[str, ...] = ()


@dataclass(frozen=True)
class JudgeFailed(Numbered):
    """The judge itself has failed: this is not a verdict on the solution.

    is_sticky: the GPU shows an error that stays until its processes end.
    """

    message: str
    hint: str
    is_sticky: bool = False


@dataclass(frozen=True)
class RunCommand(Numbered):
    """Run `fictl` with these words and --json in a folder with the files of `tree`.

    keeps: `builds` returns what was built; a path in the folder returns that file.
    """

    argv: tuple[str, ...]
    tree: Blob | None = None
    folder: str = "."
    variables: dict[str, str] = field(default_factory=dict)
    keeps: tuple[str, ...] = ()
    seconds: float = 86400.0


@dataclass(frozen=True)
class CommandDone(Numbered):
    """The end of a command: its exit code, its document, the end of its other output.

    kept: blobs, which came before, by what RunCommand calls them.
    """

    code: int
    document: str
    words: str
    kept: dict[str, Blob] = field(default_factory=dict)


@dataclass(frozen=True)
class NotDone(Failed, Numbered):
    """The answer to a request that failed, of any kind."""


def ready_in(line: str) -> Ready | None:
    """Read the answer to a greeting, also of another protocol; None for any other line."""
    if len(line) > _LONGEST_HELLO:
        return None
    try:
        document = printable_document(json.loads(line), kept="")
    except (ValueError, RecursionError):
        return None
    if not isinstance(document, dict) or document.get("kind") != Ready.__name__:
        return None
    if document.get("protocol") == PROTOCOL:
        try:
            message = of_kind({Ready.__name__: Ready}, document)
        except ValueError:
            return None
        return message if isinstance(message, Ready) and _is_sane(message) else None
    return Ready(*(_number(document, "protocol"), *_texts(document)))


def greeting_in(document: Any) -> Greeting:
    """Read a greeting of any protocol: the answer says which one runs here."""
    if not isinstance(document, dict) or document.get("protocol") != PROTOCOL:
        return Greeting("", protocol=0)
    greeting = of_kind({Greeting.__name__: Greeting}, document)
    assert isinstance(greeting, Greeting)
    return greeting


def _is_sane(ready: Ready) -> bool:
    """Tell whether its numbers are those of a machine; whatever its texts are, they are shown."""
    return all(0 <= count < 1 << 60 for count in (ready.cores, ready.free_bytes))


def _number(document: dict[str, Any], name: str) -> int:
    value = document.get(name)
    return value if isinstance(value, int) else 0


def _texts(document: dict[str, Any]) -> tuple[str, str, str]:
    return tuple(str(document.get(name, "")) for name in ("fictl", "python", "hardware"))  # type: ignore[return-value]
