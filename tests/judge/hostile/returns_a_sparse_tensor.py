"""INCORRECT_DTYPE: dense"""


def run(x, s):
    return (x * s).to_sparse()
