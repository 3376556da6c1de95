"""Which test runs, in the output and among the calls."""

from __future__ import annotations

from fictl.report.test_markers import NAMED, STARTED

TESTS = """
import inspect
import pytest

@pytest.mark.parametrize("x", ["a b", 3])
def test_calls(x):
    print(sorted({f.function for f in inspect.stack() if f.function.startswith("fictl ")}))

@pytest.fixture
def fictl_spec(): pass

def test_builds(fictl_spec): pass
"""


def test_each_test_is_a_line_and_a_call(run_pytest) -> None:
    done = run_pytest(TESTS, "-p", "fictl.testing.hooks.announce", "-s", "-q", "-k", "calls")
    lines = done.stdout.splitlines()
    names = [line.removeprefix(STARTED) for line in lines if line.startswith(STARTED)]
    assert names == ["test_it.py::test_calls[a b]", "test_it.py::test_calls[3]"]
    for name in names:
        assert str([NAMED + name]) in done.stdout


def test_a_test_that_only_builds_is_left_out(run_pytest) -> None:
    done = run_pytest(TESTS, "-p", "fictl.testing.hooks.announce", "-q")
    assert "2 passed, 1 deselected" in done.stdout
