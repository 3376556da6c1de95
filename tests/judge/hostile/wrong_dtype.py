"""INCORRECT_DTYPE"""


def run(x, s):
    return (x * s).double()
