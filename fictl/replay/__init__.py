"""Replay of dumped calls, each in a process of its own, and comparison of their results."""
