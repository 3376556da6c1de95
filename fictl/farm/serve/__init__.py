"""The worker's side of requests: evaluations, and commands."""
