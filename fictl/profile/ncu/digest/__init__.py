"""Counters as sentences: each says one thing, from metrics that are there, or is left out."""
