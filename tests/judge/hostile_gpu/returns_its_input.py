"""INCORRECT_NUMERICAL: memory of the input x"""


def run(x, s):
    return x.mul_(s)
