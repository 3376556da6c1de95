"""Ops beside the benchmark definitions that their traces make."""
