"""Markers that tie a tool's output to the test that was running."""

from __future__ import annotations

# A line of the output begins with it; what follows is of the test that it names.
STARTED = "fictl: test "
# A function's name begins with it, among the calls that led to a launch.
NAMED = "fictl test "
