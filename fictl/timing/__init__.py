"""How long work on a GPU takes: timers, cold caches, when to stop, and the state of the GPU."""
