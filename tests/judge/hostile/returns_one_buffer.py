"""INCORRECT_NUMERICAL: another call"""

KEPT = []


def run(x, s):
    if not KEPT:
        KEPT.append(x * s)
    KEPT[0].copy_(x * s)
    return KEPT[0].view(x.shape)
