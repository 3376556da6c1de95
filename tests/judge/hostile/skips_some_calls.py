"""INCORRECT_NUMERICAL/PASSED 9ms"""

import time

import torch

CALLS = []


def run(x, s):
    """Only calls that were checked have a time that counts."""
    CALLS.append(1)
    if len(CALLS) % 3 == 0:
        return torch.rand_like(x)
    time.sleep(0.01)
    return x * s
