"""Exports ops as a dataset: traces as definitions, cases as workloads, sources as solutions."""

# Default author of exported solutions.
AUTHOR = "fictl"
