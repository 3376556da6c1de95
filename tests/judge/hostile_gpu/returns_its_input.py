"""INCORRECT_NUMERICAL: memory with the input x"""


def run(x, s):
    return x.mul_(s)
