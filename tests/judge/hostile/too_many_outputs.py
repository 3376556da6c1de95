"""INCORRECT_SHAPE"""


def run(x, s):
    return x * s, x
