"""How tests are named in the output of a tool that runs them: on a line, and among calls."""

from __future__ import annotations

# A line of the output: what comes after it is of that test.
STARTED = "fictl: test "
# The beginning of a function's name, among those that led to a launch.
NAMED = "fictl test "
