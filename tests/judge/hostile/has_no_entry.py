"""COMPILE_ERROR: run"""


def walk(x, s):
    return x * s
