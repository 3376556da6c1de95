"""INCORRECT_NUMERICAL"""

KEPT = []


def run(x, s):
    if not KEPT:
        KEPT.append(x * s)
    return KEPT[0].clone()
