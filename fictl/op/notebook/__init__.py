"""Kernels under development: compiled from text, and reloaded after edits in the same process."""
