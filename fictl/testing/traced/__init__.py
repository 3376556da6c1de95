"""Checks of ops against the benchmark definitions made from their traces."""
