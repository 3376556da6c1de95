"""The rank that keeps the others waiting, and the collective that they wait in, in one sentence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fictl.ranks.flight import CollectiveCall

_MOST_NAMED = 4


@dataclass(frozen=True)
class RankState:
    """A rank as it says: its calls, oldest first, and the line where its main thread is.

    doing: what fictl does there, as waiting for the others after a test.
    """

    calls: tuple[CollectiveCall, ...] = ()
    at: str = ""
    doing: str = ""


@dataclass(frozen=True)
class Verdict:
    """`text` is one sentence; `details` has a line for each rank."""

    text: str
    details: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "\n".join([self.text, *(f"  {line}" for line in self.details)])


def judge(
    states: Mapping[int, RankState | None],
    waiting: tuple[int, CollectiveCall],
    ended: Sequence[int] = (),
) -> Verdict:
    """Say why the call of the rank `waiting` does not end.

    states: of each rank; None where it does not answer.
    ended: ranks whose process is known to have ended.
    """
    rank, call = _first_wait(states, waiting)
    details = tuple(_line(number, states[number], number in ended) for number in sorted(states))
    text = _absent(states, call, ended) or _different(states, rank, call)
    if not text and ended:
        text = f"{_ranks(ended)} ended, and rank {rank} waits in {call}"
    return Verdict(text or f"all {len(states)} ranks called {call}, and it does not end", details)


def _first_wait(
    states: Mapping[int, RankState | None], waiting: tuple[int, CollectiveCall]
) -> tuple[int, CollectiveCall]:
    """Return the earliest call of that group in which a rank waits: later ones follow from it."""
    waits = [(rank, call) for rank, call in _waits(states) if call.group == waiting[1].group]
    return min([waiting, *waits], key=lambda wait: (wait[1].number, wait[0]))


def _waits(states: Mapping[int, RankState | None]) -> Iterator[tuple[int, CollectiveCall]]:
    for rank, state in states.items():
        yield from ((rank, call) for call in state.calls if not call.is_done) if state else ()


def _absent(
    states: Mapping[int, RankState | None], call: CollectiveCall, ended: Sequence[int]
) -> str:
    missing = [
        rank
        for rank, state in states.items()
        if rank in ended or state is None or _last(state, call.group) < call.number
    ]
    if not missing:
        return ""
    why = dict.fromkeys(_why(states[rank], call, rank in ended) for rank in missing)
    return f"{_ranks(missing)} did not call {call}: {'; '.join(why)}"


def _why(state: RankState | None, call: CollectiveCall, has_ended: bool) -> str:
    if has_ended:
        return "its process has ended"
    if state is None:
        return "it does not answer"
    last = [own for own in state.calls if own.group == call.group]
    parts = [f"its last call was {last[-1]}" if last else "it has called none"]
    if state.doing or state.at:
        parts.append(" ".join(filter(None, ("it", state.doing or "is", _at(state.at)))))
    return ", ".join(parts)


def _different(states: Mapping[int, RankState | None], rank: int, call: CollectiveCall) -> str:
    """Name a rank that called something else in its place."""
    for other, state in states.items():
        for own in state.calls if state else ():
            if (own.group, own.number) != (call.group, call.number):
                continue
            if own.name != call.name:
                return f"rank {other} called {own}{_in(own)} where rank {rank} called {call}{_in(call)}"
            if own.shape != call.shape and own.name in _OF_EQUAL_SHAPES:
                return (
                    f"rank {other} called {own} with {own.shape or 'nothing'}{_in(own)} where "
                    f"rank {rank} called it with {call.shape or 'nothing'}{_in(call)}"
                )
    return ""


_OF_EQUAL_SHAPES = ("all_reduce", "broadcast", "reduce", "all_gather", "reduce_scatter")


def _last(state: RankState, group: str) -> int:
    return max((call.number for call in state.calls if call.group == group), default=0)


def _line(rank: int, state: RankState | None, has_ended: bool) -> str:
    if has_ended:
        return f"rank {rank}: its process has ended"
    if state is None:
        return f"rank {rank}: no answer"
    waits = [call for call in state.calls if not call.is_done]
    if waits:
        return f"rank {rank} waits in {waits[0]}{_in(waits[0])}"
    last = f"last call {state.calls[-1]}{_in(state.calls[-1])}" if state.calls else "no call yet"
    return ", ".join(filter(None, (f"rank {rank}: {last}", state.doing, _at(state.at))))


def _in(call: CollectiveCall) -> str:
    return f" ({call.at})" if call.at else ""


def _at(place: str) -> str:
    return f"at {place}" if place else ""


def _ranks(ranks: Sequence[int]) -> str:
    named = ", ".join(map(str, ranks[:_MOST_NAMED]))
    more = f" and {len(ranks) - _MOST_NAMED} more" if len(ranks) > _MOST_NAMED else ""
    return f"rank {named}" if len(ranks) == 1 else f"ranks {named}{more}"
