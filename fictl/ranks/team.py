"""Exchanges between ranks, apart from the collectives that they measure or record."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any, TypeVar

from fictl.errors import FictlError
from fictl.ranks.rank import Rank
from fictl.ranks.witness import Witness

T = TypeVar("T")

_POLL_SECONDS = 2e-4
# --timeout of the command ends a case before.
_MOST_SECONDS = 86400.0


class RankFailed(FictlError):
    """Another rank could not do its part."""

    code = "rank-failed"


class Team:
    """The ranks, which all come to every exchange. It uses no collective, so as not to be timed."""

    def __init__(self, here: Rank, store: Any, witness: Witness) -> None:
        self.here, self._store, self._witness = here, store, witness
        self._count = 0

    @property
    def leads(self) -> bool:
        """True on the one rank that reports."""
        return self.here.rank == 0

    def everyone(self, value: Any) -> list[Any]:
        """Return the value of each rank; a value is what JSON can hold.

        Raise RankFailed if another rank comes with an error instead.
        """
        messages = self._exchange({"value": value}, "waits for the others")
        problem = _first_error(messages)
        if problem:
            raise RankFailed(problem)
        return [message["value"] for message in messages]

    def attempt(self, call: Callable[[], T]) -> tuple[T | None, str]:
        """Call it on every rank; return its result, and the first error that any rank has."""
        try:
            result = call()
        except RankFailed as failed:
            return None, failed.message
        except Exception as error:
            verdict = self._witness.explain(error)
            problem = verdict.text if verdict else in_words(error)
            doing = f"waits for the others after an error, {problem},"
            return None, _first_error(self._exchange({"error": problem}, doing))
        return result, _first_error(self._exchange({}, "waits for the others"))

    def first(self, problem: str) -> str:
        """Return the problem of the first rank that has one, with its name."""
        problems = enumerate(self.everyone(problem))
        return next((f"rank {rank}: {text}" for rank, text in problems if text), "")

    def _exchange(self, message: dict[str, Any], doing: str) -> list[dict[str, Any]]:
        self._count += 1
        self._store.set(self._key(self._count, self.here.rank), json.dumps(message))
        self._witness.doing = doing
        messages = [self._message(rank) for rank in range(self.here.size)]
        self._witness.doing = ""
        if self._count > 1:  # All have come here, so that nobody reads the last ones any more.
            self._store.delete_key(self._key(self._count - 1, self.here.rank))
        return messages

    def _message(self, rank: int) -> dict[str, Any]:
        key, deadline = self._key(self._count, rank), time.monotonic() + _MOST_SECONDS
        try:
            while not self._store.check([key]):
                if rank in self._witness.ended or time.monotonic() > deadline:
                    break
                time.sleep(_POLL_SECONDS)
            else:
                return dict(json.loads(self._store.get(key).decode()))
        except RuntimeError:  # The store has ended, with the rank that serves it.
            pass
        raise FictlError(f"rank {rank} did not finish its part")

    @staticmethod
    def _key(count: int, rank: int) -> str:
        return f"team/{count}/{rank}"


def _first_error(messages: list[dict[str, Any]]) -> str:
    errors = enumerate(message.get("error", "") for message in messages)
    return next((f"rank {rank}: {text}" for rank, text in errors if text), "")


def in_words(error: BaseException) -> str:
    if isinstance(error, FictlError):
        return error.message
    return f"{type(error).__name__}: {error}".strip().partition("\n")[0]
