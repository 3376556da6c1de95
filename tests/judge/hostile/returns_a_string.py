"""INCORRECT_DTYPE"""


def run(x, s):
    return "right"
