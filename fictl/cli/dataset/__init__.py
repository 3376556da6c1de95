"""Datasets of definitions, solutions, workloads and traces, as flashinfer-bench keeps them."""

COMMANDS = {
    "validate": "Check the files of a dataset",
    "run": "Evaluate solutions, and add the results",
    "report": "Show who is right, and how fast",
    "export": "Write ops as a dataset",
    "collect": "Make workloads of dumped calls",
}
