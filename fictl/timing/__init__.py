"""Timing of work on a GPU: timers, cold caches, when to stop, and the state of the GPU."""
