"""INCORRECT_NUMERICAL"""

LAST = []


def run(x, s):
    LAST.append(x * s)
    return LAST.pop(0) if len(LAST) > 1 else LAST[0]
