"""Exports ops as a dataset: traces as definitions, cases as workloads, sources as solutions."""

# Whose solutions they are where nobody says another.
AUTHOR = "fictl"
