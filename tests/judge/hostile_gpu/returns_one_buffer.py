"""INCORRECT_NUMERICAL: another call"""

import torch

KEPT = []


def run(x, s):
    if not KEPT:
        KEPT.append(torch.empty_like(x))
    return torch.mul(x, s, out=KEPT[0])
