"""INCORRECT_NUMERICAL dps: wrote nothing"""

CALLS = []


def run(x, s, y):
    CALLS.append(1)
    if len(CALLS) <= 2:
        y.copy_(x * s)
