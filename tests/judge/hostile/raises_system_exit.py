"""RUNTIME_ERROR: SystemExit"""


def run(x, s):
    raise SystemExit(0)
