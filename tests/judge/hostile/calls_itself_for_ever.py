"""RUNTIME_ERROR: RecursionError"""


def run(x, s):
    return run(x, s)
