"""INCORRECT_SHAPE"""


def run(x, s):
    x * s
