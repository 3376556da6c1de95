"""INCORRECT_DTYPE: no tensor"""


def run(x, s):
    return {"y": x * s}
