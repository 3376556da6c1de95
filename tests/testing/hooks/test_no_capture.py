"""A test that captures a CUDA graph is skipped in words, before anything begins."""

from __future__ import annotations

TESTS = """
import torch

def test_context():
    # A GPU is asked for where it is made, and this is about where it is entered.
    with object.__new__(torch.cuda.graph):
        raise AssertionError("it was captured")

def test_by_hand():
    object.__new__(torch.cuda.CUDAGraph).capture_begin()

def test_other(): pass
"""


def test_captures_are_skipped_and_nothing_else(run_pytest) -> None:
    done = run_pytest(TESTS, "-p", "fictl.testing.hooks.no_capture")
    assert "1 passed, 2 skipped" in done.stdout
    assert "which is off here" in done.stdout


def test_without_torch_there_is_nothing_to_refuse(run_pytest) -> None:
    done = run_pytest("def test_plain(): pass", "-p", "fictl.testing.hooks.no_capture", fresh=True)
    assert "1 passed" in done.stdout
