"""fictl farm status: the runs of this user that are at work."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from fictl.cli import console
from fictl.cli.options import Json

if TYPE_CHECKING:
    from fictl.farm.run_status import RunState

EXAMPLES = {
    "fictl farm status": "from another terminal",
    "fictl farm status --json": "for a script",
}


def command(json: Json = False) -> None:
    """Show what runs at places now: results, rate, time left, places at work and lost."""
    from fictl.farm.run_status import runs

    states = [*runs()]
    data = [
        {**asdict(state), "rate": state.rate, "seconds_left": state.seconds_left}
        for state in states
    ]
    rows = [_row(state) for state in states]
    columns = ("run", "host", "pid", "done", "a minute", "left", "places busy", "lost")
    view = console.Table(columns, rows) if rows else "nothing runs at places now"
    console.show(console.Result(data, view))


def _row(state: RunState) -> tuple[str, ...]:
    left = state.seconds_left
    return (
        state.what,
        state.host,
        str(state.pid),
        f"{state.done}/{state.total}",
        f"{state.rate * 60:.3g}",
        f"{left / 60:.1f} min" if left is not None else "unknown",
        f"{state.busy} of {state.places}",
        str(state.lost),
    )
