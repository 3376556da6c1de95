"""Replay a recording in a process of its own, and sum up the outcomes of its calls."""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from fictl.child.environment import unwatched
from fictl.child.program import Program
from fictl.errors import FictlError, SetupError
from fictl.op.watch.dump.record import Refused
from fictl.process import TimedOut, ending
from fictl.replay.outcome import ReplayOutcome
from fictl.replay.recording.document import Recording
from fictl.replay.recording.messages import CallOutcome, PlayAnswer, PlayRequest
from fictl.toolchain import require_gpu

_TENSORS_ON = {"cuda": "cuda", "emu": "cpu"}
# From the worst on; a recording has the worst status of its calls.
_WORST = ("mismatch", "error", "refused", "match")
PROGRAM = "fictl.replay.recording.play_worker"


def replay_recording(path: Path, device: str, timeout: float, under: str = "") -> ReplayOutcome:
    """Replay a recording. device: cuda, emu, or '' for a GPU, where programs are recorded."""
    start, chosen = time.monotonic(), device or "cuda"
    calls: Sequence[CallOutcome] = ()
    code = 0
    try:
        recording = Recording.read(path)
        name = f"{recording.program}: {recording.scene}"
        _refuse(under)
        calls = _played(path, chosen, timeout)
        status, detail, hint = summed_up(calls), counted(calls), ""
    except Refused as error:
        name, status, detail, hint = "", "refused", error.message, error.hint
    except FictlError as error:
        name, status, detail, hint = "", "error", error.message, error.hint
        cannot = isinstance(error, SetupError) and not isinstance(error, TimedOut)
        code = error.exit_code if cannot else 0
    return ReplayOutcome(
        str(path),
        name,
        status,
        detail,
        hint,
        chosen,
        time.monotonic() - start,
        under,
        code=code,
        calls=tuple(call for call in calls if call.status in _WORST[:3]),
    )


def summed_up(calls: Sequence[CallOutcome]) -> str:
    """Return the worst status; `no reference` where nothing was compared."""
    statuses = {call.status for call in calls}
    return next((status for status in _WORST if status in statuses), "no reference")


def counted(calls: Sequence[CallOutcome]) -> str:
    """Return how many steps ended how, in words."""
    counts = Counter(call.status for call in calls)
    return ", ".join(f"{count} {status}" for status, count in counts.most_common())


def _refuse(under: str) -> None:
    if under:
        raise Refused(
            f"--under {under} looks at one call, and a recording has many",
            "a dump of FICTL_LOGLEVEL=10 is of one",
        )


def _played(path: Path, device: str, timeout: float) -> Sequence[CallOutcome]:
    if device == "cuda":
        require_gpu(
            "there is no GPU here, and recordings are of programs on one",
            "--device emu replays it on the emulated device",
        )
    request = PlayRequest(path.absolute(), _TENSORS_ON[device])
    with tempfile.TemporaryDirectory(prefix="fictl-replay-") as folder:
        program = Program(PROGRAM, request, unwatched(device)).filed(Path(folder))
        finished = program.run(timeout)
        answer = program.answer(PlayAnswer)
    if answer is None:
        last = next(reversed(finished.output.strip().splitlines()), "")
        raise FictlError(f"it ended its process with {ending(finished.code)}", last)
    if answer.refusal:
        raise Refused(answer.refusal)
    return answer.calls
