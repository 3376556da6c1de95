"""INCORRECT_NUMERICAL"""

KEPT = []


def run(x, s):
    KEPT.append(x * s if len(KEPT) < 2 else KEPT[0])
    return KEPT[-1].clone()
