"""Answer: the document that the process of a step writes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from fictl.errors import FictlError
from fictl.process import ending


@dataclass(frozen=True)
class Answer:
    """Answer of a step. data, error: from its document; if the process died, `error`
    explains how.
    """

    step: str
    code: int
    seconds: float
    data: Any = None
    error: FictlError | None = None

    @classmethod
    def read(cls, step: str, code: int, seconds: float, out: str, err: str) -> Answer:
        try:
            document = json.loads(out)
            data, error = document["data"], document["error"]
        except (ValueError, KeyError, TypeError):
            return cls(step, code or 1, seconds, error=_died(step, code, err))
        problem = FictlError(error["message"], error["hint"]) if error else None
        return cls(step, code, seconds, data, problem)


def _died(step: str, code: int, err: str) -> FictlError:
    how = ending(code)
    last = next((line for line in reversed(err.splitlines()) if line.strip()), "")
    return FictlError(f"fictl {step} ended with {how}", last.strip())
