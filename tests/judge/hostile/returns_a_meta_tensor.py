"""INCORRECT_DTYPE/INCORRECT_NUMERICAL/RUNTIME_ERROR"""


def run(x, s):
    return x.to("meta") * s
