"""The request to the process that records cases by CUPTI, and its answer to each case."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fictl.case.messages import CaseRequest
from fictl.child.message import Failed
from fictl.profile.cupti.summary import CuptiSummary


@dataclass(frozen=True)
class TracedCase:
    """A case, and the file for its timeline."""

    case: CaseRequest
    trace: Path


@dataclass(frozen=True)
class CuptiRequest:
    """Cases of one op, to be recorded in this order."""

    cases: tuple[TracedCase, ...]


@dataclass(frozen=True)
class CaseProfiled:
    """The next case was recorded."""

    summary: CuptiSummary


@dataclass(frozen=True)
class CaseFailed:
    """The next case could not be recorded; later cases may still succeed."""

    failure: Failed
