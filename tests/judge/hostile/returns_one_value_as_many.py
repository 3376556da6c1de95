"""INCORRECT_NUMERICAL"""


def run(x, s):
    return (x[:1, :1] * s).expand_as(x)
