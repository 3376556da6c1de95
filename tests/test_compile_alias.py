"""fictl.compile has the names of flashinfer_bench.compile, and they are fictl.runnable's."""

from __future__ import annotations

import fictl.compile
import fictl.compile.builders
import fictl.runnable.builders


def test_the_names_are_those_of_runnable():
    for ours, theirs in (
        (fictl.runnable, fictl.compile),
        (fictl.runnable.builders, fictl.compile.builders),
    ):
        assert {*theirs.__all__} == {*ours.__all__}
        assert all(getattr(theirs, name) is getattr(ours, name) for name in ours.__all__)
