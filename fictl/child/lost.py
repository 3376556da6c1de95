"""Lost work: the place that had it failed, so nothing is known about the work itself."""

from __future__ import annotations

from fictl.errors import SetupError
from fictl.printable import printable

# Exit codes of shells, and of programs that start others, that name their reason.
_MISSING, _NOT_EXECUTABLE, _NO_CONNECTION = 127, 126, 255
_HINTS = {
    _MISSING: "a command that starts it is not there",
    _NOT_EXECUTABLE: "a command that starts it cannot be executed",
    _NO_CONNECTION: "what connects to it could not",
}


class Lost(SetupError):
    """A place's process ended, or stopped answering, before it answered.

    Work that is lost is never a result: another place, or another process, does it again.
    """

    code = "lost"


class NotStarted(Lost):
    """A place's process never came up: it was given no work."""


def not_started(how: str, last: str) -> NotStarted:
    """Describe a start that failed: `how` it ended, and the last lines that it printed."""
    lines = last.strip().splitlines()
    reason = f": {printable(lines[-1].strip()[:300])}" if lines else ""
    return NotStarted(f"its process did not start ({how}){reason}", _hint(how, last))


def _hint(how: str, last: str) -> str:
    if "No module named" in last and "fictl" in last:
        return "install fictl for the Python that starts there"
    code = how.rpartition(" ")[2]
    return _HINTS.get(int(code), "") if code.isdigit() else ""
