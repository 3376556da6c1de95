"""INCORRECT_DTYPE: not a tensor"""


def run(x, s):
    return {"y": x * s}
