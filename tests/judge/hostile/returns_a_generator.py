"""INCORRECT_DTYPE/INCORRECT_SHAPE/REWARD_HACK"""


def run(x, s):
    return (row * s for row in x)
