"""The actor that holds the worker of a place, on a node of a Ray cluster.

It is imported there from the node's own fictl: nothing but its name, and strings, are pickled.
"""

from __future__ import annotations

import json
import os
import select
import sys
from typing import Any

from fictl.child.local_process import LocalProcess
from fictl.child.session import Gone, Late
from fictl.farm.engine.command import WORKER, pairs
from fictl.paths import SAFE_PATH

_PART = 1 << 18
OUT, ERR = "o", "e"
GONE, LATE = "gone", "late"
# A token is for nobody whom the worker runs, and Ray gives its own processes one thread each.
_NOT_FOR_WORKERS = ("RAY_", "OMP_NUM_THREADS")


class Holder:
    """Passes the lines of one worker on. Methods may be called at the same time."""

    def start(self, document: str) -> str:
        """Start the worker in a session of its own: Ray kills process groups, and its judge has
        to end in order.
        """
        spec: dict[str, Any] = json.loads(document)
        unset = [word for name in _inherited() for word in ("-u", name)]
        worker = (spec["python"] or sys.executable, "-m", WORKER)
        variables = pairs({**SAFE_PATH, **spec["variables"]})
        self._out, out = os.pipe()
        self._err, err = os.pipe()
        self._poll = select.poll()
        with os.fdopen(out, "wb") as out_end, os.fdopen(err, "wb") as err_end:
            self._process = LocalProcess(
                ("env", *unset, *variables, *worker),
                out=out_end,
                err=err_end,
                same=not spec["python"],
            )
        for handle in (self._out, self._err):
            self._poll.register(handle, select.POLLIN)
        return ""

    def write(self, line: str) -> str:
        """Write a line; return '' or why nobody has read it."""
        try:
            self._process.write_line(line)
        except Late:
            return LATE
        except Gone:
            return GONE
        return ""

    def read(self, text: str) -> str:
        """Wait for some output; OUT or ERR, then the bytes, each as a character; '' at its end."""
        while True:
            for handle, _ in self._poll.poll():
                part = os.read(handle, _PART)
                if part:
                    return (OUT if handle == self._out else ERR) + part.decode("latin-1")
                if handle == self._out:
                    return ""
                self._poll.unregister(handle)

    def terminate(self, text: str) -> str:
        self._process.terminate()
        return ""

    def hang_up(self, text: str) -> str:
        self._process.hang_up()
        return ""

    def close(self, text: str) -> str:
        """End the worker and all its descendants; return how it ended."""
        return self._process.close()


def _inherited() -> list[str]:
    return [name for name in {**os.environ} if name.startswith(_NOT_FOR_WORKERS)]
