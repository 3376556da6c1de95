"""Tactics: ways to launch one kernel that differ only in speed, and the choice for a call."""
