"""Sandboxed processes: how they are started, asked from outside, and ended with all descendants."""
