"""Checks that find defects in kernels that pass their tests."""
