"""Profile a case by several ranks: a process for each, all recorded, on one timeline."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from fictl import settings
from fictl.child.codec import from_text
from fictl.child.listener import Listener
from fictl.child.program import Program
from fictl.errors import FictlError
from fictl.gpu_lock.chosen import ChosenGpus
from fictl.process import TimedOut, ending
from fictl.profile.ranks.clocks import common_clock, require_inside
from fictl.profile.ranks.messages import RankRecording, RanksCase
from fictl.profile.ranks.result import CUPTI, HOST, RanksProfile
from fictl.profile.ranks.statistics import Span, calls_of, row_of, spans_of
from fictl.profile.ranks.timeline import save
from fictl.profile.request import ProfileRequest
from fictl.ranks.hung import RankHung
from fictl.ranks.launched import Launched

_CHECK = "fictl test {request.folder} --gpus {request.ranks} checks the op"
_PROGRAM = "fictl.profile.ranks.rank_worker"


def profile(
    request: ProfileRequest,
    trace: Path | None = None,
    say: Callable[[str], object] = lambda line: None,
) -> RanksProfile:
    """Record a case on all of its ranks.

    The timeline goes to `trace` if given, else to the folder of the request. `say` receives other
    output of the processes.
    """
    with TemporaryDirectory(prefix="fictl-profile-") as folder:
        asked = RanksCase(request.of_case, settings.DEVICE.get(), Path(folder))
        _run(request, asked, Launched(request.ranks, Path(folder) / "ranks.json"), say)
        recordings = [_left_by(rank, asked) for rank in range(request.ranks)]
    path = trace or request.file(f".{request.ranks}-gpus.trace.json")
    return merged(recordings, request, path)


def merged(
    recordings: Sequence[RankRecording], request: ProfileRequest, path: Path
) -> RanksProfile:
    """Bring the recordings to one clock, write the timeline, and count who waited for whom."""
    clock = common_clock([one.clock for one in recordings])
    spans = [spans_of(one.work) for one in recordings]
    for rank, (one, own) in enumerate(zip(recordings, spans, strict=True)):
        _require_calls(rank, own, request.calls)
        require_inside(rank, one.clock, [*own.values()])
    calls = calls_of(spans, clock)
    gpus = [_gpu(request.gpus, rank, one) for rank, one in enumerate(recordings)]
    save(request.case, recordings, gpus, calls, clock, path)
    is_emulated = any(one.emulated for one in recordings)
    return RanksProfile(
        request.case,
        HOST if is_emulated else CUPTI,
        str(request.gpus),
        calls,
        tuple(row_of(rank, gpus[rank], calls, one.work) for rank, one in enumerate(recordings)),
        tuple(one.summary for one in recordings),
        clock,
        str(path),
    )


def _gpu(chosen: ChosenGpus, rank: int, recording: RankRecording) -> str:
    """Name the GPU of a rank, by its number where several were chosen."""
    number = f"GPU {chosen.names[rank]}" if rank < len(chosen.names) else ""
    return ", ".join(filter(None, (number, recording.summary.device)))


def _run(
    request: ProfileRequest,
    asked: RanksCase,
    launched: Launched,
    say: Callable[[str], object],
) -> None:
    """Run the ranks to their end."""
    hung: list[str] = []
    listener = Listener({RankHung: lambda message: hung.append(message.why)}, say)
    program = Program(_PROGRAM, asked, request.program.variables).under(launched.words, {})
    seconds = request.options.timeout
    try:
        code = program.listen(listener, seconds).code
    except TimedOut:
        raise FictlError(
            f"the ranks did not end within {seconds:g} s, and were killed", "--timeout gives more"
        ) from None
    ended = launched.ended()
    why = "; ".join([*hung[:1], *([str(ended)] if ended else [])])
    if why:
        raise FictlError(why, listener.last_words(1).strip() or _CHECK.format(request=request))
    if listener.error:
        raise listener.error
    if not listener.done:
        how = ending(code) if code else "no word"
        raise FictlError(f"the ranks ended with {how}", listener.last_words(1).strip())


def _left_by(rank: int, asked: RanksCase) -> RankRecording:
    try:
        return from_text(RankRecording, asked.file(rank).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise FictlError(f"rank {rank} left no recording that can be read: {error}") from error


def _require_calls(rank: int, spans: Mapping[int, Span], calls: int) -> None:
    """Raise FictlError if a rank has recorded less than the calls that all of them made."""
    if not spans:
        raise FictlError(
            f"rank {rank} recorded nothing: its {calls} calls ran nothing on its GPU",
            "an op of several ranks launches something on each; fictl test --gpus checks the op, "
            "fictl doctor CUPTI",
        )
    if len(spans) < calls:
        missing = next(number for number in range(calls) if number not in spans)
        raise FictlError(
            f"rank {rank} recorded {len(spans)} of {calls} calls: call {missing} ran nothing on its GPU",
            "every call has to do the same on every rank",
        )
