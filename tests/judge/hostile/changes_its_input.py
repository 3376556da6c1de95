"""INCORRECT_NUMERICAL: changed its input x"""


def run(x, s):
    y = x * s
    x.zero_()
    return y
