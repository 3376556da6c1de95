"""Counters as sentences: each makes one point, and is left out if its metrics are missing."""
