"""Ops as a dataset: their traces as definitions, their cases as workloads, themselves as solutions."""

# Whose solutions they are where nobody says another.
AUTHOR = "fictl"
