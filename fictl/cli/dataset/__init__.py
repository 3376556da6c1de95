"""Datasets of definitions, solutions, workloads and traces, as flashinfer-bench keeps them."""

COMMANDS = ("validate", "run", "report", "export")
