"""Testing ops from their traces: inputs, comparison, and the pytest plugin."""

from fictl.testing.compare import assert_close
from fictl.testing.inputs import make_inputs

__all__ = ["assert_close", "make_inputs"]
