"""PASSED dps"""

import torch


def run(x, s, y):
    torch.mul(x, s, out=y)
